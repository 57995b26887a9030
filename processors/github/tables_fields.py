"""Which field of which kind has which type: GitHub's own description, as data.

A kind, then its fields, by what they become:

    integers, reals, texts, booleans, times, json: columns; `name=path.to.field` names one for what stands deeper
    people: objects that are accounts: `user` becomes `user_id` and `user_login`
    links: links of the document that name one other thing, `link:kind`: `milestone` becomes `milestone_urn`; without a
        kind it may be of several
    made: a column, the template of a URN, and the column it refers to, where the document has no such link
    several: arrays that become link tables, `field:sort`, or `field:sort:name` where `kind_field` is taken
    left_out: what has no column on purpose: templates of URLs that follow from others, ids of GraphQL, whole copies of
        what has its own table

A line that is indented deeper goes on with the one before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

PLATFORM: Final = "github"


class Fields(Struct, frozen=True, kw_only=True):
    """The fields of one kind, in words separated by spaces. made: three words each."""

    kind: str
    integers: str = ""
    reals: str = ""
    texts: str = ""
    booleans: str = ""
    times: str = ""
    people: str = ""
    links: str = ""
    made: str = ""
    several: str = ""
    json: str = ""
    left_out: str = ""


ACCOUNT_URLS: Final = """
url repos_url events_url hooks_url issues_url members_url public_members_url followers_url following_url gists_url
starred_url subscriptions_url organizations_url received_events_url node_id gravatar_id
"""
_ROWS: Final = """
org
    integers id public_repos public_gists followers following total_private_repos owned_private_repos private_gists
        disk_usage collaborators
    texts login name description company blog location email twitter_username html_url avatar_url type billing_email
        default_repository_permission default_repository_branch members_allowed_repository_creation_type
        secret_scanning_push_protection_custom_link
    booleans is_verified has_organization_projects has_repository_projects members_can_create_repositories
        two_factor_requirement_enabled members_can_create_public_repositories
        members_can_create_private_repositories members_can_create_internal_repositories members_can_create_pages
        members_can_create_public_pages members_can_create_private_pages members_can_delete_repositories
        members_can_change_repo_visibility members_can_invite_outside_collaborators members_can_delete_issues
        display_commenter_full_name_setting_enabled readers_can_create_discussions members_can_create_teams
        members_can_view_dependency_insights members_can_fork_private_repositories web_commit_signoff_required
        advanced_security_enabled_for_new_repositories dependabot_alerts_enabled_for_new_repositories
        dependabot_security_updates_enabled_for_new_repositories dependency_graph_enabled_for_new_repositories
        secret_scanning_enabled_for_new_repositories secret_scanning_push_protection_enabled_for_new_repositories
        secret_scanning_push_protection_custom_link_enabled deploy_keys_enabled_for_repositories
    times created_at updated_at archived_at
    json plan
    left_out ACCOUNT_URLS
user
    integers id public_repos public_gists followers following private_gists total_private_repos owned_private_repos
        disk_usage collaborators
    texts login name company blog location email notification_email bio twitter_username html_url avatar_url type
        user_view_type ldap_dn
    booleans site_admin hireable two_factor_authentication business_plus
    times created_at updated_at
    json plan
    left_out ACCOUNT_URLS
team
    integers id members_count repos_count enterprise_id parent_id=parent.id
    texts name slug description privacy notification_setting permission html_url ldap_dn type access_source
    times created_at updated_at
    people organization
    links organization:org parent:team
    json permissions
    left_out node_id url members_url repositories_url organization_id parent
repo
    integers id stargazers_count watchers_count forks_count open_issues_count subscribers_count network_count size
        parent_id=parent.id source_id=source.id template_repository_id=template_repository.id
    texts name full_name description homepage language default_branch visibility html_url clone_url ssh_url git_url
        mirror_url license_key=license.key license_spdx_id=license.spdx_id squash_merge_commit_title
        squash_merge_commit_message merge_commit_title merge_commit_message pull_request_creation_policy
    booleans private fork archived disabled is_template has_issues has_projects has_wiki has_pages has_downloads
        has_discussions has_pull_requests allow_rebase_merge allow_squash_merge allow_auto_merge
        delete_branch_on_merge allow_merge_commit allow_update_branch use_squash_pr_title_as_default allow_forking
        web_commit_signoff_required anonymous_access_enabled
    times created_at updated_at pushed_at
    people owner organization
    links parent:repo source:repo template_repository:repo
    several topics:text
    json permissions custom_properties security_and_analysis code_of_conduct
    left_out node_id url archive_url assignees_url blobs_url branches_url collaborators_url comments_url commits_url
        compare_url contents_url contributors_url deployments_url downloads_url events_url forks_url git_commits_url
        git_refs_url git_tags_url issue_comment_url issue_events_url issues_url keys_url labels_url languages_url
        merges_url milestones_url notifications_url pulls_url releases_url stargazers_url statuses_url
        subscribers_url subscription_url tags_url teams_url trees_url hooks_url svn_url forks open_issues watchers
        master_branch temp_clone_token license parent source template_repository
label
    integers id
    texts name description color
    booleans default
    times archived_at
    people archived_by
    left_out node_id url
milestone
    integers id number open_issues closed_issues
    texts title description state html_url
    times created_at updated_at closed_at due_on
    people creator
    left_out node_id url labels_url
release
    integers id mentions_count
    texts tag_name name body target_commitish html_url discussion_url tarball_url zipball_url body_html body_text
    booleans draft prerelease immutable
    times created_at updated_at published_at
    people author
    links tag:tag
    several assets:asset:release_files
    json reactions
    left_out node_id url assets_url upload_url
branch
    integers required_approving_review_count
    texts name commit_sha=commit.sha pattern
    booleans protected
    links commit:commit
    json protection
    left_out commit _links protection_url
tag
    texts name ref commit_sha=commit.sha object_sha=object.sha object_type=object.type
    links commit:commit
    left_out node_id url commit object zipball_url tarball_url
issue
    integers id number comments milestone_number=milestone.number reactions_total=reactions.total_count
    texts title body state state_reason author_association active_lock_reason html_url
        pull_request_url=pull_request.url type_name=type.name parent_issue_url body_html body_text
    booleans locked draft
    times created_at updated_at closed_at
    people user assignee closed_by
    links milestone:milestone pull_request:pull_request
    several labels:label assignees:person
    json reactions performed_via_github_app issue_field_values issue_dependencies_summary sub_issues_summary
        pinned_comment
    left_out node_id url repository_url labels_url comments_url events_url timeline_url repository pull_request
        milestone type
issue_comment
    integers id reactions_total=reactions.total_count
    texts body author_association html_url body_html body_text
    times created_at updated_at
    people user
    json reactions performed_via_github_app pin minimized
    left_out node_id url issue_url
pull_request
    integers id number comments review_comments commits additions deletions changed_files
        milestone_number=milestone.number head_repo_id=head.repo.id base_repo_id=base.repo.id
    texts title body state author_association active_lock_reason mergeable_state merge_commit_sha html_url diff_url
        head_ref=head.ref head_sha=head.sha head_label=head.label base_ref=base.ref base_sha=base.sha
    booleans draft merged locked mergeable rebaseable maintainer_can_modify
    times created_at updated_at closed_at merged_at
    people user assignee merged_by
    links issue:issue milestone:milestone head:repo
    several labels:label assignees:person requested_reviewers:person requested_teams:team
    json auto_merge stack
    left_out node_id url patch_url issue_url commits_url review_comments_url review_comment_url comments_url
        statuses_url _links head base milestone
review
    integers id
    texts body state commit_sha=commit_id author_association html_url body_html body_text
    times submitted_at
    people user
    made commit_urn {repo}:commit:{commit_id} commits.urn
    left_out node_id _links pull_request_url
review_comment
    integers id review_id=pull_request_review_id in_reply_to_id position original_position line original_line
        start_line original_start_line reactions_total=reactions.total_count
    texts body path diff_hunk commit_sha=commit_id original_commit_sha=original_commit_id side start_side
        subject_type author_association html_url body_html body_text
    times created_at updated_at
    people user
    links review:review commit:commit
    json reactions
    left_out node_id url pull_request_url _links
commit
    integers comment_count=commit.comment_count additions=stats.additions deletions=stats.deletions
    texts sha message=commit.message author_name=commit.author.name author_email=commit.author.email
        committer_name=commit.committer.name committer_email=commit.committer.email tree_sha=commit.tree.sha
        verification_reason=commit.verification.reason html_url
    booleans verified=commit.verification.verified
    times authored_at=commit.author.date committed_at=commit.committer.date
    people author committer
    several parents:parent files:file
    left_out node_id url comments_url commit stats
commit_comment
    integers id position line reactions_total=reactions.total_count
    texts body path commit_sha=commit_id author_association html_url
    times created_at updated_at
    people user
    json reactions
    left_out node_id url
release_asset
    integers id size download_count
    texts name label state content_type digest browser_download_url
    times created_at updated_at
    people uploader
    left_out node_id url
issue_event
    integers id
    texts event commit_sha=commit_id label_name=label.name milestone_title=milestone.title rename_from=rename.from
        rename_to=rename.to lock_reason author_association requested_team_slug=requested_team.slug
    times created_at
    people actor assignee assigner review_requester requested_reviewer
    links commit:commit label:label
    json dismissed_review project_card performed_via_github_app intent issue_type prev_issue_type sub_issue
        parent_issue blocked_by blocking
    left_out node_id url issue commit_url label milestone rename requested_team
reaction
    integers id
    texts content
    times created_at
    people user
    links on:
    left_out node_id
discussion
    integers id number comments reactions_total=reactions.total_count
    texts title body state state_reason category_name=category.name active_lock_reason answer_html_url
        author_association html_url
    booleans locked
    times created_at updated_at answer_chosen_at
    people user answer_chosen_by
    several labels:label
    json reactions
    left_out node_id repository_url timeline_url category
status
    integers id
    texts state context description target_url avatar_url
    times created_at updated_at
    people creator
    left_out node_id url
check_suite
    integers id latest_check_runs_count app_id=app.id
    texts status conclusion head_branch head_sha before after app_slug=app.slug
    booleans rerequestable runs_rerequestable
    times created_at updated_at
    several pull_requests:pull_request
    left_out node_id url check_runs_url repository head_commit app
check_run
    integers id check_suite_id=check_suite.id app_id=app.id
    texts name status conclusion head_sha external_id details_url html_url app_slug=app.slug
    times started_at completed_at
    links check_suite:check_suite
    several pull_requests:pull_request
    json output deployment
    left_out node_id url check_suite app
deployment
    integers id
    texts sha ref task environment original_environment description
    booleans transient_environment production_environment
    times created_at updated_at
    people creator
    links commit:commit
    json payload performed_via_github_app
    left_out node_id url statuses_url repository_url
deployment_status
    integers id
    texts state description environment target_url environment_url log_url
    times created_at updated_at
    people creator
    json performed_via_github_app
    left_out node_id url deployment_url repository_url
workflow
    integers id
    texts name path state html_url badge_url
    times created_at updated_at deleted_at
    left_out node_id url
workflow_run
    integers id run_number run_attempt workflow_id check_suite_id head_repository_id=head_repository.id
    texts name display_title event status conclusion head_branch head_sha path html_url
    times created_at updated_at run_started_at
    people actor triggering_actor
    links workflow:workflow commit:commit
    several pull_requests:pull_request
    json referenced_workflows
    left_out node_id url check_suite_node_id jobs_url logs_url check_suite_url artifacts_url cancel_url rerun_url
        previous_attempt_url workflow_url repository head_repository head_commit head_repository_id
project
    integers id number
    texts title description short_description state
    booleans public is_template
    times created_at updated_at closed_at deleted_at
    people owner creator deleted_by
    json latest_status_update
    left_out node_id
project_item
    integers id content_number=content.number
    texts content_type content_title=content.title item_url
    times created_at updated_at archived_at
    people creator
    json content fields
    left_out node_id project_url
security_advisory
    texts ghsa_id cve_id summary description severity state html_url
    times created_at updated_at published_at closed_at withdrawn_at
    people author publisher
    several collaborating_users:person
    json vulnerabilities identifiers cvss cvss_severities cwes cwe_ids credits credits_detailed collaborating_teams
        submission private_fork
    left_out url
dependabot_alert
    integers number
    texts state dismissed_reason dismissed_comment html_url package_name=dependency.package.name
        package_ecosystem=dependency.package.ecosystem manifest_path=dependency.manifest_path
        severity=security_advisory.severity ghsa_id=security_advisory.ghsa_id
    times created_at updated_at dismissed_at fixed_at auto_dismissed_at
    people dismissed_by
    several assignees:person
    json dependency security_advisory security_vulnerability dismissal_request
    left_out url
tag_object
    texts sha tag message object_type=object.type object_sha=object.sha tagger_name=tagger.name
        tagger_email=tagger.email verification_reason=verification.reason
    booleans verified=verification.verified
    times tagged_at=tagger.date
    json verification
    left_out node_id url object tagger
workflow_job
    integers id run_id run_attempt runner_id runner_group_id
    texts name status conclusion head_sha head_branch workflow_name html_url runner_name runner_group_name
    times created_at started_at completed_at
    json steps labels
    left_out node_id url run_url check_run_url
artifact
    integers id size_in_bytes workflow_run_id=workflow_run.id
    texts name digest head_branch=workflow_run.head_branch head_sha=workflow_run.head_sha
    booleans expired
    times created_at updated_at expires_at
    left_out node_id url archive_download_url workflow_run
environment
    integers id
    texts name html_url
    booleans can_admins_bypass
    times created_at updated_at
    json protection_rules deployment_branch_policy
    left_out node_id url
ruleset
    integers id
    texts name target source_type source enforcement current_user_can_bypass
    times created_at updated_at
    json bypass_actors conditions rules
    left_out node_id _links
branch_protection
    texts name
    booleans enabled enforces_admins=enforce_admins.enabled requires_linear_history=required_linear_history.enabled
        allows_force_pushes=allow_force_pushes.enabled allows_deletions=allow_deletions.enabled
        requires_signatures=required_signatures.enabled
        requires_conversation_resolution=required_conversation_resolution.enabled
        blocks_creations=block_creations.enabled locks_branch=lock_branch.enabled
        allows_fork_syncing=allow_fork_syncing.enabled
    json required_status_checks required_pull_request_reviews restrictions
    left_out url protection_url enforce_admins required_linear_history allow_force_pushes allow_deletions
        required_signatures required_conversation_resolution block_creations lock_branch allow_fork_syncing
code_scanning_alert
    integers number
    texts state dismissed_reason dismissed_comment html_url rule_id=rule.id rule_severity=rule.severity
        rule_description=rule.description tool_name=tool.name tool_version=tool.version
    times created_at updated_at fixed_at dismissed_at auto_dismissed_at
    people dismissed_by
    several assignees:person
    json rule tool most_recent_instance dismissal_approved_by
    left_out url instances_url
secret_scanning_alert
    integers number
    texts state resolution resolution_comment secret_type secret_type_display_name validity html_url
        push_protection_bypass_request_comment push_protection_bypass_request_html_url
    booleans push_protection_bypassed publicly_leaked multi_repo is_base64_encoded has_more_locations
    times created_at updated_at resolved_at push_protection_bypassed_at
    people resolved_by push_protection_bypassed_by push_protection_bypass_request_reviewer assigned_to
    json first_location_detected
    left_out url locations_url secret
gist
    integers comments
    texts id description html_url
    booleans public truncated comments_enabled
    times created_at updated_at
    people owner
    json files history forks fork_of
    left_out node_id url forks_url commits_url git_pull_url git_push_url comments_url user
package
    integers id version_count
    texts name package_type visibility html_url
    times created_at updated_at
    people owner
    left_out url repository
membership
    texts state role
    people user
    booleans direct_membership
    json permissions enterprise_teams_providing_indirect_membership
    left_out url organization_url organization
"""


def _read(text: str) -> Fields:
    kind, *lines = text.replace("\n        ", " ").splitlines()
    words = dict(line.strip().split(" ", 1) for line in lines)
    return Fields(kind=kind, **{name: some.replace("ACCOUNT_URLS", ACCOUNT_URLS) for name, some in words.items()})


FIELDS: Final[Mapping[str, Fields]] = {row.kind: row for row in map(_read, re.split(r"\n(?=\S)", _ROWS.strip()))}
"""The same by kind."""

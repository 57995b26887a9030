"""The part of the official schema that is answered; a test checks that each line of it stands there too."""

from __future__ import annotations

from typing import Final

from graphql import GraphQLSchema, build_schema

SUBSET: Final = """
scalar BigInt
scalar DateTime
scalar GitObjectID
scalar URI

interface Node { id: ID! }

interface Actor {
  avatarUrl(size: Int): URI!
  login: String!
  url: URI!
}

enum CommentAuthorAssociation {
  COLLABORATOR CONTRIBUTOR FIRST_TIMER FIRST_TIME_CONTRIBUTOR MANNEQUIN MEMBER NONE OWNER
}
enum GistPrivacy { ALL PUBLIC SECRET }
enum MergeableState { CONFLICTING MERGEABLE UNKNOWN }
enum MergeStateStatus { BEHIND BLOCKED CLEAN DIRTY HAS_HOOKS UNKNOWN UNSTABLE }
enum PullRequestReviewState { APPROVED CHANGES_REQUESTED COMMENTED DISMISSED PENDING }
enum RepositoryAffiliation { COLLABORATOR ORGANIZATION_MEMBER OWNER }
enum RepositoryPrivacy { PRIVATE PUBLIC }
enum UserViewType { PRIVATE PUBLIC }

type PageInfo { endCursor: String hasNextPage: Boolean! }

type FollowerConnection { totalCount: Int! }
type FollowingConnection { totalCount: Int! }
type GistConnection { totalCount: Int! }
type CommitCommentConnection { totalCount: Int! }
type CommitHistoryConnection { totalCount: Int! }
type DeploymentConnection { totalCount: Int! }
type IssueCommentConnection { totalCount: Int! }
type IssueConnection { totalCount: Int! }
type PullRequestCommitConnection { totalCount: Int! }
type PullRequestConnection { totalCount: Int! }
type PullRequestReviewCommentConnection { totalCount: Int! }
type RefConnection { totalCount: Int! }
type ReleaseConnection { totalCount: Int! }
type RepositoryConnection { totalCount: Int! }

type PullRequestReviewConnection {
  nodes: [PullRequestReview]
  pageInfo: PageInfo!
  totalCount: Int!
}

type PullRequestReviewThreadConnection {
  nodes: [PullRequestReviewThread]
  pageInfo: PageInfo!
  totalCount: Int!
}

interface GitObject { id: ID! oid: GitObjectID! }

type Commit implements GitObject & Node {
  history(first: Int): CommitHistoryConnection!
  id: ID!
  oid: GitObjectID!
}

type Ref implements Node { id: ID! target: GitObject }

type Repository implements Node {
  commitComments(first: Int): CommitCommentConnection!
  defaultBranchRef: Ref
  deployments(first: Int): DeploymentConnection!
  id: ID!
  issues(first: Int): IssueConnection!
  pullRequests(first: Int): PullRequestConnection!
  refs(first: Int, refPrefix: String!): RefConnection
  releases(first: Int): ReleaseConnection!
}

type Bot implements Actor & Node {
  avatarUrl(size: Int): URI!
  databaseId: Int
  id: ID!
  login: String!
  url: URI!
}

type Organization implements Actor & Node {
  avatarUrl(size: Int): URI!
  databaseId: Int
  id: ID!
  login: String!
  url: URI!
}

type User implements Actor & Node {
  avatarUrl(size: Int): URI!
  bio: String
  company: String
  createdAt: DateTime!
  databaseId: Int
  email: String!
  followers(first: Int): FollowerConnection!
  following(first: Int): FollowingConnection!
  gists(first: Int, privacy: GistPrivacy): GistConnection!
  id: ID!
  isHireable: Boolean!
  isSiteAdmin: Boolean!
  location: String
  login: String!
  name: String
  repositories(
    first: Int
    ownerAffiliations: [RepositoryAffiliation]
    privacy: RepositoryPrivacy
  ): RepositoryConnection!
  twitterUsername: String
  updatedAt: DateTime!
  url: URI!
  userViewType: UserViewType!
  websiteUrl: URI
}

type PullRequestReviewThread implements Node {
  comments(first: Int): PullRequestReviewCommentConnection!
  id: ID!
}

type PullRequestReview implements Node {
  author: Actor
  authorAssociation: CommentAuthorAssociation!
  body: String!
  commit: Commit
  fullDatabaseId: BigInt
  id: ID!
  state: PullRequestReviewState!
  submittedAt: DateTime
  url: URI!
}

type PullRequest implements Node {
  additions: Int!
  canBeRebased: Boolean!
  changedFiles: Int!
  comments(first: Int): IssueCommentConnection!
  commits(first: Int): PullRequestCommitConnection!
  deletions: Int!
  headRefOid: GitObjectID!
  id: ID!
  maintainerCanModify: Boolean!
  mergeStateStatus: MergeStateStatus!
  mergeable: MergeableState!
  mergedBy: Actor
  number: Int!
  reviewThreads(first: Int): PullRequestReviewThreadConnection!
  reviews(first: Int): PullRequestReviewConnection
  updatedAt: DateTime!
}

type RateLimit {
  cost: Int!
  limit: Int!
  nodeCount: Int!
  remaining: Int!
  resetAt: DateTime!
  used: Int!
}

type Query {
  node(id: ID!): Node
  nodes(ids: [ID!]!): [Node]!
  rateLimit: RateLimit
  viewer: User!
}
"""
SCHEMA: Final[GraphQLSchema] = build_schema(SUBSET)

"""Releases and their files."""

from __future__ import annotations

from ghcrawl.simulator.github.code import Asset, Release
from ghcrawl.simulator.github.entities import Repo
from ghcrawl.simulator.github.shapes.accounts import simple_user
from ghcrawl.simulator.github.shapes.site import Body, Site, dated, ids, quoted_ref, reactions


def asset(site: Site, repo: Repo, release: Release, asset: Asset) -> Body:
    """A file of a release. Its download count changes and bumps nothing."""
    tag = quoted_ref(release.tag_name)
    return {
        "url": f"{site.repo(repo)}/releases/assets/{asset.id}",
        **ids("RA", repo.id, asset.id),
        "name": asset.name,
        "label": None,
        "uploader": simple_user(site, release.author),
        "content_type": asset.content_type,
        "state": "uploaded",
        "size": asset.size,
        "digest": None,
        "download_count": asset.download_count,
        **dated(asset),
        "browser_download_url": f"{site.page(repo)}/releases/download/{tag}/{asset.name}",
    }


def release(site: Site, repo: Repo, release: Release) -> Body:
    """A release with its files: the same alone and in lists."""
    url = f"{site.repo(repo)}/releases/{release.id}"
    tag = quoted_ref(release.tag_name)
    draft = release.published_at is None
    return {
        "url": url,
        "assets_url": f"{url}/assets",
        "upload_url": f"{url}/assets{{?name,label}}",
        "html_url": f"{site.page(repo)}/releases/tag/{tag}",
        **ids("RE", repo.id, release.id),
        "author": simple_user(site, release.author),
        "tag_name": release.tag_name,
        "target_commitish": release.target,
        "name": release.name,
        "draft": draft,
        "immutable": False,
        "prerelease": release.prerelease,
        "created_at": release.created_at,
        "updated_at": max([release.published_at or release.created_at, *(each.updated_at for each in release.assets)]),
        "published_at": release.published_at,
        "assets": [asset(site, repo, release, each) for each in release.assets],
        "tarball_url": None if draft else f"{site.repo(repo)}/tarball/{tag}",
        "zipball_url": None if draft else f"{site.repo(repo)}/zipball/{tag}",
        "body": release.body,
    } | ({"reactions": reactions(url, repo, release)} if release in repo.records.reactions else {})

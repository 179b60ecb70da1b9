"""mkdocs hooks: pages that are generated or stand outside of docs/, and their links.

In mkdocs.yml, "folder/*" in the navigation stands for all pages of that folder.
"""

import site_api
import site_configuration
import site_dtypes
import site_links
from mkdocs.structure.files import File, InclusionLevel

CONFIGURATION = "reference/configuration.md"

SEARCH_BOOSTS = {"reference/api/": 1e-4, "reference/": 0.1, "results/": 0.1, "repository/": 0.1}
"""Path on the site -> how much its pages count in the search, the first that fits; guides: 1. The
search gives a title a thousand times the weight of a text, and names of the API are titles there: a
word of a guide comes before the same word in a name.
"""

_generated: dict[str, str] = {}


def on_config(config):
    """Writes the generated pages, expands the navigation, adds the Markdown extension."""
    if not _generated:
        _generated.update(site_api.build_pages())
        _generated[CONFIGURATION] = site_configuration.build_page()
    config.nav = site_links.expand(config.nav, list(_generated))
    config.markdown_extensions.append(site_dtypes.PlaceholderExtension())
    return config


def on_files(files, config):
    """Adds the generated pages, results/ and all other files that pages link to."""
    for path, markdown in _generated.items():
        files.append(File.generated(config, path, content=markdown))
    outside = [path for path in site_links.pages() if path.startswith(site_links.RESULTS)]
    pictures = (site_links.ROOT / "results").rglob("*.[ps][nv]g")
    outside += [path.relative_to(site_links.ROOT).as_posix() for path in pictures]
    for path in outside:
        files.append(_file(config, path))
    for path in site_links.linked_files():
        files.append(_file(config, path, InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown, page, config, files):
    """Weighs the page for the search, and changes links between files of the repository into links
    between pages of the site."""
    for path, boost in SEARCH_BOOSTS.items():
        if page.file.src_uri.startswith(path):
            page.meta["search"] = {"boost": boost}
            break
    if page.file.src_uri in _generated:
        return markdown
    return site_links.rewrite(markdown, site_links.repository_path(page.file.src_uri))


def _file(config, path, inclusion=InclusionLevel.UNDEFINED):
    return File.generated(
        config,
        site_links.site_path(path),
        abs_src_path=str(site_links.ROOT / path),
        inclusion=inclusion,
    )

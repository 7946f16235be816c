"""The results that ship with Headscope: computed by ``headscope atlas build``, imported at first start.

A newcomer's first page is a real map. The runs keep the ids that anybody's same request has, so asking for
one of them again gives the shipped run.
"""

from __future__ import annotations

from headscope.gallery.load import import_gallery

__all__ = ["import_gallery"]

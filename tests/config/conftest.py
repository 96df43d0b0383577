from pathlib import Path

import pytest

from tests.config.helpers import File


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path)

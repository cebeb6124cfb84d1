"""``evaluate`` on rows in the workers of a Dask cluster: `make test-dask`, in an environment of its own."""

import warnings

import pytest

from tests.engines.cases import InProcesses

dask = pytest.importorskip("dask", reason="make test-dask runs this in an environment of its own")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster, on its way up and down


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Start two workers on this machine."""
    from dask.distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as two, Client(two) as client:
            yield client


def engine(pieces):
    """Return the parts as the partitions of one Dask frame."""
    import dask.dataframe as dd

    return dd.from_delayed([dask.delayed(each.to_pandas()) for each in pieces], meta=pieces[0].to_pandas()[:0])


class TestDask(InProcesses):
    engine = staticmethod(engine)
    NUMBERS = (1, 2, 3, 4, 5, 6, 7)

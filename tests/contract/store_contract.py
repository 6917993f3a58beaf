"""The contract of `db.api.Store`, which every store must pass."""

from tests.contract.store_action_logs import StoreActionLogsContract
from tests.contract.store_actions import StoreActionsContract
from tests.contract.store_audits import StoreAuditsContract
from tests.contract.store_claims import StoreClaimsContract
from tests.contract.store_cluster_purging import StoreClusterPurgingContract
from tests.contract.store_clusters import StoreClustersContract
from tests.contract.store_credentials import StoreCredentialsContract
from tests.contract.store_events import StoreEventsContract
from tests.contract.store_finding import StoreFindingContract
from tests.contract.store_graph import StoreGraphContract
from tests.contract.store_listing import StoreListingContract
from tests.contract.store_locks import StoreLocksContract
from tests.contract.store_machine import StoreMachineContract
from tests.contract.store_plans import StorePlansContract
from tests.contract.store_projects import StoreProjectsContract
from tests.contract.store_purging import StorePurgingContract
from tests.contract.store_readiness import StoreReadinessContract
from tests.contract.store_request_keys import StoreRequestKeysContract
from tests.contract.store_requests import StoreRequestsContract
from tests.contract.store_secrets import StoreSecretsContract
from tests.contract.store_sessions import StoreSessionsContract
from tests.contract.store_sharing import StoreSharingContract
from tests.contract.store_software import StoreSoftwareContract
from tests.contract.store_stack_lists import StoreStackListsContract
from tests.contract.store_stacks import StoreStacksContract
from tests.contract.store_workers import StoreWorkersContract


class StoreContract(
    StoreActionsContract,
    StoreGraphContract,
    StoreClaimsContract,
    StoreLocksContract,
    StoreSharingContract,
    StoreWorkersContract,
    StoreEventsContract,
    StorePlansContract,
    StorePurgingContract,
    StoreListingContract,
    StoreFindingContract,
    StoreAuditsContract,
    StoreStacksContract,
    StoreStackListsContract,
    StoreSoftwareContract,
    StoreClustersContract,
    StoreClusterPurgingContract,
    StoreProjectsContract,
    StoreReadinessContract,
    StoreRequestKeysContract,
    StoreRequestsContract,
    StoreSecretsContract,
    StoreSessionsContract,
    StoreCredentialsContract,
    StoreActionLogsContract,
    StoreMachineContract,
):
    """Mix it into a test case, before the class that provides the store.

    `make_store` returns an empty store; the provider also closes it.
    """

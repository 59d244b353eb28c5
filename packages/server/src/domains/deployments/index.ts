import type { Domain } from '../../engine/domain.ts';
import { names } from './names.ts';
import { createTvcApp } from './operations/create-tvc-app.ts';
import { createTvcDeployment } from './operations/create-tvc-deployment.ts';
import { createTvcManifestApprovals } from './operations/create-tvc-manifest-approvals.ts';
import { createTvcOperator } from './operations/create-tvc-operator.ts';
import { deleteTvcAppAndDeployments } from './operations/delete-tvc-app-and-deployments.ts';
import { deleteTvcDeployment } from './operations/delete-tvc-deployment.ts';
import { getAppStatus } from './operations/get-app-status.ts';
import { getTvcApp } from './operations/get-tvc-app.ts';
import { getTvcDeployment } from './operations/get-tvc-deployment.ts';
import { listTvcAppDeployments } from './operations/list-tvc-app-deployments.ts';
import { listTvcApps } from './operations/list-tvc-apps.ts';
import { listTvcOperators } from './operations/list-tvc-operators.ts';
import { listTvcQuorumKeys } from './operations/list-tvc-quorum-keys.ts';
import { restoreTvcDeployment } from './operations/restore-tvc-deployment.ts';
import { setTvcAppLiveDeployment } from './operations/set-tvc-app-live-deployment.ts';
import { tables } from './tables.ts';

export const deployments: Domain = {
  name: 'deployments',
  operations: [
    createTvcApp,
    createTvcDeployment,
    createTvcManifestApprovals,
    createTvcOperator,
    deleteTvcAppAndDeployments,
    deleteTvcDeployment,
    getAppStatus,
    getTvcApp,
    getTvcDeployment,
    listTvcAppDeployments,
    listTvcApps,
    listTvcOperators,
    listTvcQuorumKeys,
    restoreTvcDeployment,
    setTvcAppLiveDeployment,
  ],
  tables,
  names,
};

import type { Config } from '../../config/config.ts';
import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { ReadStores } from '../../storage/stores.ts';
import type { DeployedApp, Deployment } from './model.ts';
import { TvcReader } from './store.ts';

// What may follow what (protocol/deployments 3). Each rule is judged when somebody asks, and again in the transaction.

const refuse = (sentence: string): ApiError => new ApiError('FAILED_PRECONDITION', sentence);

export function requireUndeleted({ deletedAtMs }: Deployment): void {
  if (deletedAtMs !== undefined) throw refuse('this deployment is deleted; restore it first');
}

export function requireDeletable({ deletedAtMs }: Deployment): void {
  if (deletedAtMs !== undefined) throw refuse('this deployment is already deleted');
}

/** Traffic would go nowhere while there is something else to send it to. */
export function requireNotLive({ id }: Deployment, { liveDeploymentId }: DeployedApp, hasOthers: boolean): void {
  if (liveDeploymentId !== id || !hasOthers) return;
  throw refuse('this deployment is live, and the app has others; set another one live before you delete it');
}

export function requireRestorable({ deletedAtMs }: Deployment, app: DeployedApp): void {
  if (app.deletedAtMs !== undefined) {
    throw refuse('the app of this deployment was deleted with all its deployments; they cannot be restored');
  }
  if (deletedAtMs === undefined) throw refuse('this deployment is not deleted, so that there is nothing to restore');
}

/** For one more that is not deleted: each is part of every answer about the app's status. */
export async function requireRoom(
  read: ReadStores,
  organizationId: OrganizationId,
  { id }: Pick<DeployedApp, 'id'>,
  { limitDeployments: most }: Pick<Config, 'limitDeployments'>,
): Promise<void> {
  if (most === undefined || (await read(TvcReader).countDeployments(organizationId, id)) < most) return;
  throw new ApiError(
    'RESOURCE_LIMIT_EXCEEDED',
    `an app can have at most ${most} deployments; delete those that nobody needs`,
  );
}

export function requireApproved({ approvedAtMs }: Deployment): void {
  if (approvedAtMs === undefined) {
    throw refuse('the manifest of this deployment needs more approvals before it can be live');
  }
}

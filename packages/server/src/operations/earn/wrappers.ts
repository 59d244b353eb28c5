import type { ChainSettings, SendState } from '../../lib/chain.ts';
import type { EarnWrapper } from '../../lib/earn.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { OrganizationId, SendId } from '../../lib/ids.ts';
import type { Organization } from '../../lib/model.ts';
import type { ReadStores, Stores } from '../../storage/stores.ts';

/** Parents have wrappers, and their sub-organizations use them (EARN 1.4). */
export const managerOf = ({ id, parentId }: Organization): OrganizationId => parentId ?? id;

/** What became of a wrapper's deployment. One that was on the chain already when it was asked for needed none. */
export async function deploymentOf(
  read: ReadStores,
  { organizationId, deployRequestId }: EarnWrapper,
): Promise<{ readonly state: SendState; readonly sendId: SendId | undefined }> {
  const { sendId } = await read.earn.getRequest(organizationId, 'deploy', deployRequestId);
  const state = sendId === undefined ? 'INCLUDED' : (await read.sends.get(organizationId, sendId)).state;
  return { state, sendId };
}

/** A wrapper that wallets of the organization can use. */
export async function usableWrapper(
  read: ReadStores,
  organization: Organization,
  { caip2 }: ChainSettings,
  address: string,
): Promise<EarnWrapper> {
  const wrappers = await read.earn.wrappersAt(managerOf(organization), address.toLowerCase());
  if (wrappers.length === 0) {
    throw setupRequired(
      'there is no wrapper at wrapperAddress: the parent organization runs earn_deploy_wrapper first',
    );
  }
  const wrapper = wrappers.find((one) => one.caip2 === caip2);
  if (wrapper === undefined) throw invalidField('parameters.chainCaip2', 'is not the chain of this wrapper');
  await requireDeployed(read, wrapper);
  return wrapper;
}

/**
 * The same wrapper as it is in the transaction, and stays until its end: its state may have been switched since, and the
 * block with its deployment may be gone.
 */
export async function heldWrapper(store: Stores, wrapper: EarnWrapper): Promise<EarnWrapper> {
  const held = await store.earn.holdWrapper(wrapper);
  if (held === undefined) throw setupRequired('the wrapper is gone');
  await requireDeployed(store, held);
  return held;
}

/** A call to an address without a contract would succeed and do nothing. */
export async function requireDeployed(read: ReadStores, wrapper: EarnWrapper): Promise<void> {
  const { state } = await deploymentOf(read, wrapper);
  if (state === 'INCLUDED') return;
  throw setupRequired(
    state === 'FAILED'
      ? 'the deployment of this wrapper failed: the parent organization runs earn_deploy_wrapper again'
      : 'this wrapper is being deployed: get_earn_deploy_status tells when it is there',
  );
}

const setupRequired = (message: string): ApiError => new ApiError('EARN_SETUP_REQUIRED', message);

export function requireDeposits({ depositsDisabled }: EarnWrapper): void {
  if (!depositsDisabled) return;
  throw new ApiError('EARN_DEPOSITS_DISABLED', 'deposits into this wrapper are disabled; withdrawals are not');
}

/** The wrappers that the organization itself has at an address: one on each chain where it is. */
export async function ownWrappers(
  read: ReadStores,
  organizationId: OrganizationId,
  address: string,
): Promise<readonly [EarnWrapper, ...EarnWrapper[]]> {
  const [first, ...others] = await read.earn.wrappersAt(organizationId, address.toLowerCase());
  if (first === undefined) throw new ApiError('RESOURCE_NOT_FOUND', 'wrapper not found in this organization');
  return [first, ...others];
}

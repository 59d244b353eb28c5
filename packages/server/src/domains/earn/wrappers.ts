import type { Hex } from '../../chains/nodes/node.ts';
import type { ChainSettings, SendState } from '../../chains/settings.ts';
import type { Organization } from '../../core/model.ts';
import type { PrepareContext } from '../../engine/define.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { OrganizationId, SendId } from '../../lib/ids.ts';
import type { ReadStores, Stores } from '../../storage/stores.ts';
import { SendReader } from '../sends/store/sends.ts';
import type { EarnWrapper } from './model.ts';
import { EarnReader, EarnStore } from './store.ts';

/** Parents have wrappers, and their sub-organizations use them (protocol/earn 2.5). */
export const managerOf = ({ id, parentId }: Organization): OrganizationId => parentId ?? id;

/** Tells a wrapper from those at the same address on other chains, as CAIP-10 writes accounts. */
export const accountOf = ({ caip2, wrapperAddress }: Pick<EarnWrapper, 'caip2' | 'wrapperAddress'>): string =>
  `${caip2}:${wrapperAddress}`;

export interface WrapperDeployment {
  readonly state: SendState;
  readonly sendId: SendId | undefined;
  /** Whether the state can still change: its transaction is watched. */
  readonly isOpen: boolean;
}

/** What became of a wrapper's deployment. One that was on the chain already when it was asked for needed none. */
export async function deploymentOf(
  read: ReadStores,
  { organizationId, deployRequestId }: EarnWrapper,
): Promise<WrapperDeployment> {
  const { sendId } = await read(EarnReader).getRequest(organizationId, 'deploy', deployRequestId);
  if (sendId === undefined) return { state: 'INCLUDED', sendId, isOpen: false };
  const { state, isOpen } = await read(SendReader).get(organizationId, sendId);
  return { state, sendId, isOpen };
}

/** A wrapper that wallets of the organization may use, wherever its deployment is. */
export async function sharedWrapper(
  read: ReadStores,
  organization: Organization,
  { caip2 }: ChainSettings,
  address: string,
): Promise<EarnWrapper> {
  const wrappers = await read(EarnReader).wrappersAt(managerOf(organization), address.toLowerCase());
  if (wrappers.length === 0) {
    throw setupRequired(
      'there is no wrapper at wrapperAddress: the parent organization runs earn_deploy_wrapper first',
    );
  }
  const wrapper = wrappers.find((one) => one.caip2 === caip2);
  if (wrapper === undefined) throw invalidField('parameters.chainCaip2', 'is not the chain of this wrapper');
  return wrapper;
}

/** The same wrapper as it is in the transaction, and stays until its end: its state may have been switched since. */
export async function heldWrapper(store: Stores, wrapper: EarnWrapper): Promise<EarnWrapper> {
  const held = await store(EarnStore).holdWrapper(wrapper);
  if (held === undefined) throw setupRequired('the wrapper is gone');
  return held;
}

/** For deposits, which need a deployment that is as deep as the chain wants. */
export async function requireDeployed(read: ReadStores, wrapper: EarnWrapper): Promise<void> {
  const { state } = await deploymentOf(read, wrapper);
  if (state !== 'INCLUDED') throw notThere(state);
}

/**
 * A call to an address without a contract would succeed and do nothing. The chain alone knows whether there is one: what
 * is inside must come out although the transaction that we know of is gone, and somebody else deployed it.
 */
export async function requireOnChain({ read, nodes }: PrepareContext, wrapper: EarnWrapper): Promise<void> {
  const code = await nodes.evm(wrapper.caip2).code(wrapper.wrapperAddress as Hex);
  if (code === '0x') throw notThere((await deploymentOf(read, wrapper)).state);
}

const AGAIN = 'the parent organization runs earn_deploy_wrapper again';
/** Of one that was on the chain, and that no transaction of ours could bring back. */
export const GONE = `this wrapper is not on its chain now: ${AGAIN}`;

function notThere(state: SendState): ApiError {
  if (state === 'INITIALIZED' || state === 'BROADCASTING') {
    return setupRequired('this wrapper is being deployed: get_earn_deploy_status tells when it is there');
  }
  return setupRequired(state === 'FAILED' ? `the deployment of this wrapper failed: ${AGAIN}` : GONE);
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
  const [first, ...others] = await read(EarnReader).wrappersAt(organizationId, address.toLowerCase());
  if (first === undefined) throw new ApiError('RESOURCE_NOT_FOUND', 'wrapper not found in this organization');
  return [first, ...others];
}

import Type, { type Static } from 'typebox';
import type { CatalogVault } from '../../earn/earn.ts';
import { rateText } from '../../earn/rates.ts';
import { readWrappers, type WrapperState } from '../../earn/wrapper.ts';
import type { ChainSettings } from '../../lib/chain.ts';
import { groupBy } from '../../lib/collections.ts';
import type { EarnWrapper } from '../../lib/earn.ts';
import { defineQuery, type QueryContext } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { toChecksum } from '../shapes/chain.ts';
import { EarnEnabledVaultShape, EarnProviderFilterShape, isAsked, TokenCaip19Shape, tokenOf } from '../shapes/earn.ts';
import { type AssetValues, assetValues, tokenName } from './asset-values.ts';
import { deploymentOf, managerOf } from './wrappers.ts';

const BPS = 10_000;

export const listEarnEnabledVaults = defineQuery({
  name: 'list_earn_enabled_vaults',
  summary:
    "The organization's fee wrappers or its parent's, oldest first, with what their vaults tell. Fees are shown to the parent alone.",
  parameters: Type.Object({
    organizationId: IdShape,
    provider: Type.Optional(EarnProviderFilterShape),
    caip19: Type.Optional(TokenCaip19Shape),
    includeExposure: Type.Optional(Type.Boolean()),
  }),
  response: Type.Object({ enabledVaults: Type.Array(EarnEnabledVaultShape) }),
  async run(context, { provider, caip19, includeExposure = false }) {
    const { read, actor } = context;
    const token = caip19 === undefined ? undefined : tokenOf(caip19);
    const wrappers = (await read.earn.wrappers(managerOf(actor.organization))).filter(
      (wrapper) =>
        isAsked(wrapper.provider, provider) &&
        (token === undefined || (wrapper.caip2 === token.caip2 && wrapper.assetAddress === token.assetAddress)),
    );
    const states = await statesOf(context, wrappers);
    return {
      enabledVaults: await Promise.all(
        wrappers.map((wrapper) => render(context, wrapper, states.get(wrapper), includeExposure)),
      ),
    };
  },
});

/** By wrapper; those of a chain that is not configured any more have none. */
async function statesOf(
  { nodes, config }: QueryContext,
  wrappers: readonly EarnWrapper[],
): Promise<ReadonlyMap<EarnWrapper, WrapperState>> {
  const states = new Map<EarnWrapper, WrapperState>();
  await Promise.all(
    [...groupBy(wrappers, ({ caip2 }) => caip2)].map(async ([caip2, some]) => {
      if (!config.chains.has(caip2)) return;
      const read = await readWrappers(nodes.evm(caip2), some);
      for (const [index, wrapper] of some.entries()) {
        const state = read[index];
        if (state !== undefined) states.set(wrapper, state);
      }
    }),
  );
  return states;
}

async function render(
  context: QueryContext,
  wrapper: EarnWrapper,
  state: WrapperState | undefined,
  includeExposure: boolean,
): Promise<Static<typeof EarnEnabledVaultShape>> {
  const chain = context.config.chains.get(wrapper.caip2);
  const [values, vault, deployment] = await Promise.all([
    assetValues(context, chain, wrapper),
    vaultOf(context, chain, wrapper),
    deploymentFields(context, wrapper),
  ]);
  const { caip19, display } = values;
  const liquidity = vault?.liquidity;
  return {
    vaultAddress: toChecksum(wrapper.vaultAddress),
    wrapperAddress: toChecksum(wrapper.wrapperAddress),
    provider: wrapper.provider,
    caip19,
    apyPct: vault?.apy ?? '',
    netApyPct: netOfFees(vault?.apy ?? '', wrapper),
    totalDeposited: text(state?.totalAssets),
    display: display(state?.totalAssets),
    clientFeeBps: String(wrapper.clientFeeBps),
    depositsDisabled: wrapper.depositsDisabled,
    name: vault?.name ?? '',
    curator: vault?.curator ?? '',
    liquidity: text(liquidity),
    liquidityDisplay: display(liquidity),
    ...feeFields(context, wrapper, state, values),
    ...deployment,
    ...(includeExposure && chain !== undefined && { exposures: await exposuresOf(context, chain, wrapper, values) }),
  };
}

const text = (amount: bigint | undefined): string => (amount === undefined ? '' : String(amount));

/** The catalog knows it, unless it takes no deposits any more. */
async function vaultOf(
  { earn }: QueryContext,
  chain: ChainSettings | undefined,
  { assetAddress, vaultAddress }: EarnWrapper,
): Promise<CatalogVault | undefined> {
  if (chain === undefined) return undefined;
  const listed = await earn.vaults(chain, assetAddress);
  return listed.find((vault) => vault.vaultAddress === vaultAddress) ?? (await earn.vault(chain, vaultAddress));
}

/** The wrapper takes its fees out of what the vault earns (EARN 1.4). */
function netOfFees(apy: string, { clientFeeBps, serviceFeeBps }: EarnWrapper): string {
  if (apy === '') return '';
  const gross = Number(apy);
  // Of a loss there is no fee.
  return rateText(gross > 0 ? gross * (1 - (clientFeeBps + serviceFeeBps) / BPS) : gross);
}

/** What the parent earns is nothing for the users of its wrappers to see. */
function feeFields(
  { actor }: QueryContext,
  { clientFeeWallet }: EarnWrapper,
  state: WrapperState | undefined,
  { display }: AssetValues,
) {
  if (actor.organization.parentId !== undefined) return {};
  return {
    claimableClientFee: text(state?.claimable),
    claimableClientFeeDisplay: display(state?.claimable),
    clientFeeWallet: toChecksum(clientFeeWallet),
  };
}

async function deploymentFields({ read }: QueryContext, wrapper: EarnWrapper) {
  const { deployRequestId, organizationId } = wrapper;
  const { state, sendId } = await deploymentOf(read, wrapper);
  const error =
    state === 'FAILED' && sendId !== undefined ? (await read.sends.get(organizationId, sendId)).error : undefined;
  const deployStatus = state === 'INCLUDED' ? 'COMPLETED' : state === 'FAILED' ? 'FAILED' : 'PENDING';
  return { deployRequestId: deployRequestId as string, deployStatus, ...(error && { deployError: error.message }) };
}

async function exposuresOf(
  { earn }: QueryContext,
  chain: ChainSettings,
  { vaultAddress, caip2 }: EarnWrapper,
  { display }: AssetValues,
) {
  const exposures = await earn.exposures(chain, vaultAddress);
  return exposures.map(({ marketId, collateralAddress, collateralSymbol, lltv, share, supplied }) => ({
    marketId,
    collateralSymbol,
    ...(collateralAddress !== undefined && { collateralCaip19: tokenName(caip2, collateralAddress) }),
    lltvPct: lltv,
    supplied: String(supplied),
    display: display(supplied),
    sharePct: share,
  }));
}

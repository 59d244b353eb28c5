import Type, { type Static } from 'typebox';
import { toChecksum } from '../../../chains/ethereum/address.ts';
import type { ChainSettings } from '../../../chains/settings.ts';
import { defineQuery, type QueryContext } from '../../../engine/define.ts';
import { chunks, groupBy } from '../../../lib/collections.ts';
import { pageOfList } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { type AssetValues, assetValues, tokenName } from '../asset-values.ts';
import type { CatalogVault, VaultExposure } from '../earn.ts';
import type { EarnWrapper } from '../model.ts';
import { rateText } from '../rates.ts';
import { deploymentStatus } from '../request-status.ts';
import { EarnEnabledVaultShape, EarnProviderFilterShape, isAsked, TokenCaip19Shape, tokenOf } from '../shapes.ts';
import { EarnReader } from '../store.ts';
import { readWrappers, type WrapperState } from '../wrapper.ts';
import { accountOf, managerOf } from '../wrappers.ts';

const BPS = 10_000;

export const listEarnEnabledVaults = defineQuery({
  name: 'list_earn_enabled_vaults',
  summary:
    "The organization's fee wrappers or its parent's, oldest first, with what their vaults tell. Fees are shown to the parent alone.",
  waitsOutside: true,
  parameters: Type.Object({
    organizationId: IdShape,
    provider: Type.Optional(EarnProviderFilterShape),
    caip19: Type.Optional(TokenCaip19Shape),
    includeExposure: Type.Optional(Type.Boolean()),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ enabledVaults: Type.Array(EarnEnabledVaultShape), pageInfo: PageInfoShape }),
  async run(context, { provider, caip19, includeExposure = false, paginationOptions }) {
    const { read, actor, config } = context;
    const token = caip19 === undefined ? undefined : tokenOf(caip19);
    const asked = (await read(EarnReader).wrappers(managerOf(actor.organization))).filter(
      (wrapper) =>
        isAsked(wrapper.provider, provider) &&
        (token === undefined || (wrapper.caip2 === token.caip2 && wrapper.assetAddress === token.assetAddress)),
    );
    const { items: wrappers, pageInfo } = pageOfList(asked, paginationOptions, config.listMax, accountOf);
    const [states, vaults] = await Promise.all([
      statesOf(context, wrappers),
      vaultsOf(context, wrappers, includeExposure),
    ]);
    return {
      enabledVaults: await Promise.all(
        wrappers.map((wrapper) => render(context, wrapper, states.get(wrapper), vaults.get(keyOf(wrapper)))),
      ),
      pageInfo,
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

interface Beneath {
  readonly vault: CatalogVault | undefined;
  /** Undefined where nobody asked for them. */
  readonly exposures: readonly VaultExposure[] | undefined;
}

const keyOf = ({ caip2, vaultAddress }: EarnWrapper): string => `${caip2} ${vaultAddress}`;
/** What is loaded from chains waits in a line that has an end. */
const VAULTS_AT_ONCE = 8;

/** Each once, however many wrappers are around it; those of a chain that is not configured any more are left out. */
async function vaultsOf(
  context: QueryContext,
  wrappers: readonly EarnWrapper[],
  includeExposure: boolean,
): Promise<ReadonlyMap<string, Beneath>> {
  const found = new Map<string, Beneath>();
  const wrapped = new Map(wrappers.map((wrapper) => [keyOf(wrapper), wrapper]));
  for (const some of chunks([...wrapped], VAULTS_AT_ONCE)) {
    await Promise.all(
      some.map(async ([key, wrapper]) => {
        const chain = context.config.chains.get(wrapper.caip2);
        if (chain === undefined) return;
        const [vault, exposures] = await Promise.all([
          vaultOf(context, chain, wrapper),
          includeExposure ? context.earn.exposures(chain, wrapper.vaultAddress) : undefined,
        ]);
        found.set(key, { vault, exposures });
      }),
    );
  }
  return found;
}

async function render(
  context: QueryContext,
  wrapper: EarnWrapper,
  state: WrapperState | undefined,
  { vault, exposures }: Beneath = { vault: undefined, exposures: undefined },
): Promise<Static<typeof EarnEnabledVaultShape>> {
  const chain = context.config.chains.get(wrapper.caip2);
  const [values, deployment] = await Promise.all([
    assetValues(context, chain, wrapper),
    deploymentFields(context, wrapper),
  ]);
  const { caip19, display } = values;
  const liquidity = vault?.liquidity;
  const { provider } = wrapper;
  return {
    vaultAddress: toChecksum(wrapper.vaultAddress),
    wrapperAddress: toChecksum(wrapper.wrapperAddress),
    ...(provider && { provider }),
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
    ...(exposures && { exposures: exposureFields(exposures, wrapper, values) }),
  };
}

const text = (amount: bigint | undefined): string => (amount === undefined ? '' : String(amount));

/** The catalog knows it, unless it takes no deposits any more. */
async function vaultOf(
  { earn }: QueryContext,
  chain: ChainSettings,
  { assetAddress, vaultAddress }: EarnWrapper,
): Promise<CatalogVault | undefined> {
  const listed = await earn.vaults(chain, assetAddress);
  return listed.find((vault) => vault.vaultAddress === vaultAddress) ?? (await earn.knownVault(chain, vaultAddress));
}

/** The wrapper takes its fees out of what the vault earns (protocol/earn 3.3). */
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

async function deploymentFields(context: QueryContext, wrapper: EarnWrapper) {
  const { status, error } = await deploymentStatus(context, wrapper);
  const { deployRequestId } = wrapper;
  return {
    deployRequestId: deployRequestId as string,
    deployStatus: status,
    ...(error !== undefined && { deployError: error }),
  };
}

const exposureFields = (exposures: readonly VaultExposure[], { caip2 }: EarnWrapper, { display }: AssetValues) =>
  exposures.map(({ marketId, collateralAddress, collateralSymbol, lltv, share, supplied }) => ({
    marketId,
    collateralSymbol,
    ...(collateralAddress !== undefined && { collateralCaip19: tokenName(caip2, collateralAddress) }),
    lltvPct: lltv,
    supplied: String(supplied),
    display: display(supplied),
    sharePct: share,
  }));

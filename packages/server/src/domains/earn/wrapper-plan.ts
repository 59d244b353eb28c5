import { ethereumAddress } from '../../chains/ethereum/address.ts';
import { ethereumNetwork } from '../../chains/ethereum/network.ts';
import { configuredChain } from '../../chains/networks.ts';
import type { Hex } from '../../chains/nodes/node.ts';
import type { SendCall } from '../../chains/send/model.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import { OrganizationReader } from '../../core/store/organizations.ts';
import type { DescribeContext, PrepareContext } from '../../engine/define.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { OperatorKeyReader } from '../sends/store/operator-keys.ts';
import { SignerReader } from '../wallets/store/signers.ts';
import { earnConfigOf } from './config.ts';
import { CREATE2_PROXY, type WrapperTerms, wrapperDeployment } from './contract-addresses.ts';
import type { CatalogVault } from './earn.ts';

/** Of client and service together, in hundredths of a percent; the contract takes no more. */
const TOTAL_FEE_BPS_MAX = 5000;

/** What a wrapper is to be, before its vault has been looked at. Addresses are in lower case. */
interface WrapperWish {
  readonly chain: ChainSettings;
  /** Whose key pays, and from whose address it is sent. */
  readonly operator: string;
  readonly terms: Omit<WrapperTerms, 'provider'>;
}

export interface WrapperPlan extends WrapperWish {
  readonly terms: WrapperTerms;
  readonly vault: CatalogVault;
  readonly wrapperAddress: string;
  readonly splitterAddress: string;
  readonly call: SendCall;
  /** Whether somebody has put it there already. */
  readonly isOnChain: boolean;
}

interface Asked {
  readonly vaultAddress: string;
  readonly chainCaip2: string;
  readonly clientFeeBps: string;
  readonly clientFeeWallet: string;
}

export async function wishFor(context: DescribeContext, asked: Asked): Promise<WrapperWish> {
  const { read, actor, config } = context;
  const chain = configuredChain(config.chains, asked.chainCaip2, ethereumNetwork);
  const clientFeeBps = Number(asked.clientFeeBps);
  const { serviceFeeBps, serviceFeeWallet } = earnConfigOf(
    await read(OrganizationReader).feature(actor.organizationId, 'FEATURE_NAME_EARN_CONFIG'),
  );
  if (clientFeeBps + serviceFeeBps > TOTAL_FEE_BPS_MAX) {
    throw invalidField(
      'parameters.clientFeeBps',
      `must be at most ${TOTAL_FEE_BPS_MAX} together with the fee of the service, ${serviceFeeBps}`,
    );
  }
  await requireFeeWallet(context, asked.clientFeeWallet);
  return {
    chain,
    operator: await operatorOf(context, chain),
    terms: {
      organizationId: actor.organizationId,
      chainId: BigInt(chain.reference),
      vaultAddress: asked.vaultAddress.toLowerCase(),
      clientFeeBps,
      clientFeeWallet: asked.clientFeeWallet.toLowerCase(),
      serviceFeeBps,
      serviceFeeWallet: serviceFeeBps === 0 ? undefined : serviceFeeWallet,
    },
  };
}

/** The fees must be claimable, and that needs the key (protocol/earn 2.2). */
async function requireFeeWallet({ read, actor }: DescribeContext, address: string): Promise<void> {
  const found = await read(SignerReader).find(actor.organizationId, { address });
  const account = found?.kind === 'wallet-account' ? found.account : undefined;
  const isEthereum =
    account?.curve === 'CURVE_SECP256K1' &&
    ethereumAddress(Buffer.from(account.publicKey, 'hex')) === address.toLowerCase();
  if (isEthereum) return;
  throw new ApiError(
    'RESOURCE_NOT_FOUND',
    'clientFeeWallet is not the Ethereum address of a wallet account in this organization',
  );
}

async function operatorOf({ read }: DescribeContext, { caip2, operatorAddress }: ChainSettings): Promise<string> {
  const refused = (missing: string) =>
    new ApiError('SPONSORSHIP_NOT_CONFIGURED', `the operator pays for wrappers on ${caip2}, and ${missing}`);
  if (operatorAddress === undefined) throw refused('has set no operatorAddress in CUSTOS_CHAINS');
  if ((await read(OperatorKeyReader).operatorKey(caip2, operatorAddress)) === undefined) {
    throw refused(`has not imported the key of ${operatorAddress}: \`custos chains import-key --chain ${caip2}\``);
  }
  return operatorAddress;
}

/** Looks at the vault and at the place where the wrapper will be. */
export async function planFor({ nodes, earn }: PrepareContext, wish: WrapperWish): Promise<WrapperPlan> {
  const { caip2 } = wish.chain;
  const vault = await earn.vault(wish.chain, wish.terms.vaultAddress);
  if (vault === undefined) {
    throw new ApiError(
      'EARN_VAULT_NOT_SERVED',
      `vaultAddress is no vault of the sources that are configured for ${caip2} in CUSTOS_CHAINS`,
    );
  }
  const terms: WrapperTerms = { ...wish.terms, provider: vault.provider };
  const { wrapperAddress, splitterAddress, to, data } = wrapperDeployment(terms);
  const node = nodes.evm(caip2);
  const [code, proxy] = await Promise.all([
    node.code(wrapperAddress.toLowerCase() as Hex),
    node.code(CREATE2_PROXY.toLowerCase() as Hex),
  ]);
  if (code === '0x' && proxy === '0x') {
    throw new ApiError(
      'FAILED_PRECONDITION',
      `${caip2} has no CREATE2 proxy at ${CREATE2_PROXY}, and wrappers are deployed through it`,
    );
  }
  return {
    ...wish,
    terms,
    vault,
    wrapperAddress: wrapperAddress.toLowerCase(),
    splitterAddress: splitterAddress.toLowerCase(),
    call: { to: to.toLowerCase(), value: '0', data },
    isOnChain: code !== '0x',
  };
}

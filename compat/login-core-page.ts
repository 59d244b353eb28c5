// The page of login-core.test.ts: core's client as an application without a backend sets it up.
import { getAuthProxyConfig, getClientParams, type StamperType, TurnkeyClient } from '@turnkey/core';
import { encryptOtpCodeToBundle } from '@turnkey/crypto';
import { bs58 } from '@turnkey/encoding';
import { privateKeyToAccount } from 'viem/accounts';
import { attempt, type Called, invoke, type MethodCall } from './page-calls.ts';

export type { Called };

type Config = ConstructorParameters<typeof TurnkeyClient>[0];
type MfaContext = Parameters<NonNullable<Config['onMfaRequired']>>[0];
type Chain = Parameters<TurnkeyClient['fetchWalletProviders']>[0];

/** One more approval of a pending activity, with the token that an attested stamp needs. */
interface Proof {
  readonly stampWith: `${StamperType}`;
  readonly verificationToken?: string;
  readonly publicKey?: string;
}

/** The test puts it into the page to say how to prove more when the service wants it. */
declare const findProofs: ((context: MfaContext) => Promise<readonly Proof[]>) | undefined;

const helpers = { getAuthProxyConfig, getClientParams };
let client: TurnkeyClient;

export async function start(config: Config): Promise<void> {
  const find = typeof findProofs === 'undefined' ? undefined : findProofs;
  const onMfaRequired = find && (async (context: MfaContext) => await approve(context, await find(context)));
  client = new TurnkeyClient({ ...config, onMfaRequired });
  await client.init();
}

async function approve({ fingerprint, organizationId }: MfaContext, proofs: readonly Proof[]): Promise<void> {
  for (const { stampWith, ...token } of proofs) {
    if (stampWith === 'attested') await client.overrideAttestedStamper(token);
    await client.httpClient.approveActivity({ fingerprint, organizationId }, stampWith as StamperType);
  }
}

export const call = (wanted: MethodCall): Promise<Called> => invoke(client, wanted);
export const http = (wanted: MethodCall): Promise<Called> => invoke(client.httpClient, wanted);
export const help = (wanted: MethodCall): Promise<Called> => invoke(helpers, wanted);

/** What applications do instead of verifyOtp, which knows no other key than its vendor's. */
export const verifyCode = (given: {
  readonly otpId: string;
  readonly otpCode: string;
  readonly otpEncryptionTargetBundle: string;
  readonly otpKey: string;
}): Promise<Called> =>
  attempt(async () => {
    const { otpId, otpCode, otpEncryptionTargetBundle, otpKey } = given;
    const publicKey = (await client.createApiKeyPair()) as string;
    const encryptedOtpBundle = await encryptOtpCodeToBundle(otpCode, otpEncryptionTargetBundle, publicKey, otpKey);
    const { verificationToken } = await client.httpClient.proxyVerifyOtpV2({ otpId, encryptedOtpBundle });
    return { verificationToken, publicKey };
  });

export const walletLogin = (given: {
  readonly method: 'loginOrSignupWithWallet' | 'loginWithWallet';
  readonly chain: `${NonNullable<Chain>}`;
  readonly params: object;
}): Promise<Called> =>
  attempt(async () => {
    const [walletProvider] = await client.fetchWalletProviders(given.chain as Chain);
    if (walletProvider === undefined) throw new Error(`the page found no wallet for ${given.chain}`);
    return await client[given.method]({ ...given.params, walletProvider });
  });

/** A wallet of a browser extension, found by EIP-6963; answers its address as core writes it. */
export function installEthereumWallet({ privateKey }: { readonly privateKey: `0x${string}` }): string {
  const account = privateKeyToAccount(privateKey);
  const answers: Record<string, (params: readonly string[]) => unknown> = {
    eth_requestAccounts: () => [account.address],
    eth_accounts: () => [account.address],
    eth_chainId: () => '0x1',
    personal_sign: ([message = '']) => account.signMessage({ message }),
  };
  const request = async ({ method, params = [] }: { method: string; params?: readonly string[] }) =>
    await answers[method]?.(params);
  const info = { uuid: crypto.randomUUID(), name: 'Ethereum wallet', icon: 'data:,', rdns: 'example.wallet' };
  addEventListener('eip6963:requestProvider', () => {
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider: { request } } }));
  });
  return account.address.toLowerCase();
}

/** The same for Solana, found by the wallet standard. */
export async function installSolanaWallet(): Promise<string> {
  const { privateKey, publicKey } = (await crypto.subtle.generateKey('Ed25519', true, ['sign'])) as CryptoKeyPair;
  const bytes = new Uint8Array(await crypto.subtle.exportKey('raw', publicKey));
  const account = { address: bs58.encode(bytes), publicKey: bytes, chains: ['solana:mainnet'], features: [] };
  const signMessage = async ({ message }: { message: Uint8Array<ArrayBuffer> }) => [
    { signedMessage: message, signature: new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, message)) },
  ];
  const wallet = {
    version: '1.0.0',
    name: 'Solana wallet',
    icon: 'data:,',
    chains: ['solana:mainnet'],
    accounts: [account],
    features: {
      'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
      'solana:signMessage': { version: '1.0.0', signMessage },
    },
  };
  type Registry = { readonly register: (found: typeof wallet) => void };
  addEventListener('wallet-standard:app-ready', (event) => {
    (event as CustomEvent<Registry>).detail.register(wallet);
  });
  const detail = ({ register }: Registry): void => register(wallet);
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail }));
  return account.address;
}

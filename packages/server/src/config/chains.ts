import { readFileSync } from 'node:fs';
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { Network } from '../chains/chain.ts';
import { ethereumNetwork } from '../chains/ethereum/network.ts';
import { chainName, NETWORKS, namePattern, networkOf, referenceOf, shownNames } from '../chains/networks.ts';
import type { ChainSettings, ConfiguredChains, SponsoredPerDay } from '../chains/settings.ts';
import { NATIVE_DIGITS } from '../chains/settings.ts';
import { toUnits } from '../lib/amount.ts';
import { ApiError } from '../lib/errors.ts';
import { decoder } from '../lib/shape.ts';
import { type JsonObject, type JsonValue, parseStrictJson } from '../lib/strict-json.ts';
import { parseUrl } from '../lib/url.ts';
import { SettingError } from './setting-error.ts';

const inSettings = ({ reference }: Network) => reference;
const CHAIN = new RegExp(`^(?:${namePattern(NETWORKS, inSettings)})$`);
const assetPattern = ({ namespace, reference, tokenStandard, address, coin }: Network): string =>
  `${namespace}:${reference.pattern}/(?:${tokenStandard}:${address.pattern}|slip44:${coin.type})`;
const ASSET = new RegExp(`^(?:${NETWORKS.map(assetPattern).join('|')})$`);
/** Below a million, in billionths: what costs are counted in. */
const NATIVE_AMOUNT = /^(?:unlimited|(?:0|[1-9][0-9]{0,5})(?:\.[0-9]{1,9})?)$/;
/**
 * In whole units of the native asset: what strangers who sign up can spend of the operator's money, unless it is set.
 */
const SUB_ORGANIZATIONS_PER_DAY = '0.05';
const PRICE = /^[0-9]{1,12}(?:\.[0-9]{1,18})?$/;
/** What is not shown may be a secret in the wrong place, such as an address with a password in it. */
const SHOWN = /^[\w:/.-]{1,120}$/;

const EthereumAddress = Type.String({
  pattern: `^${ethereumNetwork.address.pattern}$`,
  'x-message': ethereumNetwork.address.expected,
});
const Caip19 = Type.String({
  pattern: ASSET.source,
  'x-message': 'must be a CAIP-19 asset such as eip155:1/erc20:0x… or eip155:1/slip44:60',
});
const NativeAmount = Type.String({
  pattern: NATIVE_AMOUNT.source,
  'x-message':
    'must be a decimal number as text such as "0.05", below a million and with at most 9 digits behind the point, or "unlimited"',
});
const NodeUrl = Type.String({
  pattern: '^https?://',
  maxLength: 2048,
  'x-message': 'must be an http:// or https:// address',
});

const Asset = Type.Object({
  caip19: Caip19,
  symbol: Type.String({ minLength: 1, maxLength: 32 }),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  decimals: Type.Integer({ minimum: 0, maximum: 36 }),
  logoUrl: Type.Optional(Type.String({ maxLength: 2048 })),
  stable: Type.Optional(Type.Boolean()),
});

/** An entry of the list may also be the address alone. */
const Vault = Type.Object({
  address: EthereumAddress,
  curator: Type.Optional(
    Type.String({
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,255}$',
      'x-trim': true,
      'x-message': 'must be 1 to 255 characters without control characters',
    }),
  ),
});

/** What only EVM chains have. */
const EvmOnly = {
  sponsoredGasMax: Type.Optional(Type.Integer({ minimum: 21_000, maximum: 100_000_000 })),
  maxFeePerGasGwei: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  batchContract: Type.Optional(EthereumAddress),
  aavePoolAddressesProvider: Type.Optional(EthereumAddress),
  morphoFactories: Type.Optional(Type.Array(EthereumAddress, { maxItems: 16 })),
  vaults: Type.Optional(Type.Array(Vault, { maxItems: 500 })),
} satisfies Record<(typeof ethereumNetwork.ownSettings)[number], TSchema>;

const Chain = Type.Object({
  rpcUrls: Type.Array(NodeUrl, { minItems: 1, maxItems: 16 }),
  confirmations: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  pollMs: Type.Optional(Type.Integer({ minimum: 50, maximum: 60_000 })),
  replaceAfterSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  sendWithinSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 604_800 })),
  assets: Type.Optional(Type.Array(Asset, { maxItems: 500 })),
  prices: Type.Optional(Type.Record(Type.String(), Type.String())),
  operatorAddress: Type.Optional(Type.String({ minLength: 32, maxLength: 44 })),
  sponsoredPerDay: Type.Optional(NativeAmount),
  ...EvmOnly,
});

const decodeChain = decoder(Chain);

/** `CUSTOS_CHAINS`: a JSON object by CAIP-2, or the path of a file with one (protocol/sends 1). */
export function chains(value: string): ConfiguredChains {
  const configured = new Map<string, ChainSettings>();
  if (value === '') return configured;
  const document = parseObject(value.trimStart().startsWith('{') ? Buffer.from(value) : readFile(value));
  for (const [name, settings] of Object.entries(document)) {
    const caip2 = chainName(name);
    if (!CHAIN.test(caip2)) {
      throw new SettingError(`has the key ${shown(name)}, which is no chain: ${shownNames(inSettings)}`);
    }
    if (configured.has(caip2)) throw new SettingError(`has ${caip2} twice, once under another name`);
    configured.set(caip2, toChain(caip2, networkOf(caip2), settings));
  }
  return configured;
}

function toChain(caip2: string, network: Network, settings: JsonValue): ChainSettings {
  refuseUnknownKeys(caip2, network, settings);
  const chain = decode(caip2, withVaultObjects(settings));
  const lists = readLists(caip2, network, chain);
  const operator = chain.operatorAddress;
  if (operator !== undefined) {
    if (!new RegExp(`^${network.address.pattern}$`).test(operator)) {
      throw new SettingError(`${caip2}.operatorAddress must be an address of that chain`);
    }
    checkAddress(network, `${caip2}.operatorAddress`, operator);
  }
  return {
    caip2,
    namespace: network.namespace,
    reference: referenceOf(caip2),
    rpcUrls: chain.rpcUrls,
    confirmations: chain.confirmations ?? 1,
    pollMs: chain.pollMs ?? 1000,
    replaceAfterSeconds: chain.replaceAfterSeconds ?? 90,
    sendWithinSeconds: chain.sendWithinSeconds ?? 3600,
    sponsoredGasMax: BigInt(chain.sponsoredGasMax ?? 2_000_000),
    sponsoredPerDay: readSponsoredPerDay(chain.sponsoredPerDay),
    maxFeePerGas: BigInt(chain.maxFeePerGasGwei ?? 1000) * 10n ** 9n,
    assets: chain.assets ?? [],
    prices: lists.prices,
    batchContract: readAddress(`${caip2}.batchContract`, chain.batchContract),
    operatorAddress: operator === undefined ? undefined : network.address.canonical(operator),
    aavePoolAddressesProvider: readAddress(`${caip2}.aavePoolAddressesProvider`, chain.aavePoolAddressesProvider),
    morphoFactories: lists.morphoFactories,
    vaults: lists.vaults,
    curators: lists.curators,
  };
}

function withVaultObjects(settings: JsonValue): JsonValue {
  if (!isObject(settings) || !Array.isArray(settings.vaults)) return settings;
  return {
    ...settings,
    vaults: settings.vaults.map((vault) => (typeof vault === 'string' ? { address: vault } : vault)),
  };
}

function readSponsoredPerDay(amount: string | undefined): SponsoredPerDay | undefined {
  if (amount === 'unlimited') return undefined;
  const most = toUnits(amount ?? SUB_ORGANIZATIONS_PER_DAY, NATIVE_DIGITS);
  return { most, of: amount === undefined ? 'sub-organizations' : 'tree' };
}

/** A misspelled key would leave its default in place and nobody would notice. */
function refuseUnknownKeys(caip2: string, network: Network, settings: JsonValue): void {
  refuseOthers(caip2, settings, Chain);
  if (!isObject(settings)) return;
  for (const { namespace, ownSettings } of NETWORKS) {
    const foreign = namespace !== network.namespace && ownSettings.find((key) => Object.hasOwn(settings, key));
    if (foreign) throw new SettingError(`${caip2}.${foreign} is for ${namespace} chains`);
  }
  for (const [key, schema] of [
    ['assets', Asset],
    ['vaults', Vault],
  ] as const) {
    const list = settings[key];
    if (!Array.isArray(list)) continue;
    for (const [index, entry] of list.entries()) refuseOthers(`${caip2}.${key}.${index}`, entry, schema);
  }
}

function refuseOthers(where: string, value: JsonValue, schema: TObject): void {
  if (!isObject(value)) return;
  const known = Object.keys(schema.properties);
  const other = Object.keys(value).find((key) => !known.includes(key));
  if (other !== undefined) {
    throw new SettingError(`${where} has the key ${shown(other)}, which is none of ${known.join(', ')}`);
  }
}

function readLists(
  caip2: string,
  network: Network,
  chain: Static<typeof Chain>,
): Pick<ChainSettings, 'prices' | 'morphoFactories' | 'vaults' | 'curators'> {
  if (chain.rpcUrls.some((url) => parseUrl(url) === undefined)) {
    throw new SettingError(`${caip2}.rpcUrls must hold http:// or https:// addresses`);
  }
  // The second of two equal ones would pass for another node that confirms what the first has said.
  if (repeated(chain.rpcUrls.map((url) => new URL(url).href)) !== undefined) {
    throw new SettingError(`${caip2}.rpcUrls names a node twice`);
  }
  const assets = (chain.assets ?? []).map(({ caip19 }) => readAsset(caip2, network, 'assets', caip19));
  const doubled = repeated(assets);
  if (doubled !== undefined) throw new SettingError(`${caip2}.assets has ${doubled} twice`);
  const prices = new Map<string, string>();
  for (const [caip19, price] of Object.entries(chain.prices ?? {})) {
    const asset = readAsset(caip2, network, 'prices', caip19).toLowerCase();
    if (prices.has(asset)) throw new SettingError(`${caip2}.prices has ${shown(caip19)} twice`);
    if (!PRICE.test(price)) {
      throw new SettingError(`${caip2}.prices must hold decimal numbers as text, such as "1.00"`);
    }
    prices.set(asset, price);
  }
  const { morphoFactories = [], vaults = [] } = chain;
  const named = vaults.flatMap(({ address, curator }) =>
    curator === undefined ? [] : [[address.toLowerCase(), curator] as const],
  );
  return {
    prices,
    morphoFactories: readAddresses(`${caip2}.morphoFactories`, morphoFactories),
    vaults: readAddresses(
      `${caip2}.vaults`,
      vaults.map(({ address }) => address),
    ),
    curators: new Map(named),
  };
}

/** In a spelling that can be compared: an address of Ethereum is the same in either case. */
function readAsset(caip2: string, network: Network, key: string, caip19: string): string {
  if (!ASSET.test(caip19)) throw new SettingError(`${caip2}.${key} has ${shown(caip19)}, which is no CAIP-19 asset`);
  if (!caip19.startsWith(`${caip2}/`)) {
    throw new SettingError(`${caip2}.${key} has ${caip19}, which is not on that chain`);
  }
  const prefix = `${caip2}/${network.tokenStandard}:`;
  if (!caip19.startsWith(prefix)) return caip19;
  const address = caip19.slice(prefix.length);
  checkAddress(network, `${caip2}.${key}`, address);
  return `${prefix}${network.address.canonical(address)}`;
}

function readAddresses(where: string, addresses: readonly string[]): string[] {
  const read = addresses.map((address) => readAddress(where, address) ?? '');
  const doubled = repeated(read);
  if (doubled !== undefined) throw new SettingError(`${where} has ${doubled} twice`);
  return read;
}

function readAddress(where: string, address: string | undefined): string | undefined {
  if (address !== undefined) checkAddress(ethereumNetwork, where, address);
  return address?.toLowerCase();
}

function checkAddress(network: Network, where: string, address: string): void {
  if (!network.address.isMistyped(address)) return;
  throw new SettingError(`${where} has ${address}, whose checksum is wrong: look for a typo`);
}

const repeated = (items: readonly string[]): string | undefined =>
  items.find((item, index) => items.indexOf(item) !== index);

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (name: string): string =>
  SHOWN.test(name) && !name.includes('://') ? JSON.stringify(name) : 'with unusual characters';

function decode(caip2: string, settings: JsonValue): Static<typeof Chain> {
  try {
    return decodeChain(settings, caip2);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [first] = error.violations ?? [];
    throw new SettingError(first === undefined ? error.message : `${first.field}: ${first.description}`);
  }
}

function readFile(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    // The value is not shown: what was meant to be JSON may hold the password of a node.
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new SettingError(`must be a JSON object, or the path of a file with one that can be read (${code})`);
  }
}

function parseObject(text: Uint8Array): JsonObject {
  let parsed: JsonValue;
  try {
    parsed = parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new SettingError(`must be a JSON object, or the path of a file with one: ${error.message}`);
  }
  if (!isObject(parsed)) throw new SettingError('must be a JSON object with a chain for each key');
  return parsed;
}

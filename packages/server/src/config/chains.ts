import { readFileSync } from 'node:fs';
import { keccak_256 } from '@noble/hashes/sha3.js';
import Type, { type Static, type TObject } from 'typebox';
import {
  type ChainSettings,
  type ConfiguredChains,
  chainName,
  NATIVE_DIGITS,
  type SponsoredPerDay,
} from '../chains/settings.ts';
import { toUnits } from '../lib/amount.ts';
import { ApiError } from '../lib/errors.ts';
import { decoder } from '../lib/shape.ts';
import { type JsonObject, type JsonValue, parseStrictJson } from '../lib/strict-json.ts';
import { parseUrl } from '../lib/url.ts';
import { SettingError } from './setting-error.ts';

const ETHEREUM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const ASSET =
  /^(?:eip155:[1-9][0-9]{0,14}\/(?:erc20:0x[0-9a-fA-F]{40}|slip44:60)|solana:[1-9A-HJ-NP-Za-km-z]{32}\/(?:token:[1-9A-HJ-NP-Za-km-z]{32,44}|slip44:501))$/;
const CHAIN = /^(?:(eip155):([1-9][0-9]{0,14})|(solana):([1-9A-HJ-NP-Za-km-z]{32}))$/;
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
  pattern: ETHEREUM_ADDRESS.source,
  'x-message': 'must be an address, 0x and 40 hex digits',
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
};

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
    const [, namespace, reference] = CHAIN.exec(caip2)?.filter(Boolean) ?? [];
    if (namespace === undefined || reference === undefined) {
      throw new SettingError(`has the key ${shown(name)}, which is no chain: eip155:<number> or solana:<genesis hash>`);
    }
    if (configured.has(caip2)) throw new SettingError(`has ${caip2} twice, once under another name`);
    configured.set(caip2, toChain(caip2, namespace as ChainSettings['namespace'], reference, settings));
  }
  return configured;
}

function toChain(
  caip2: string,
  namespace: ChainSettings['namespace'],
  reference: string,
  settings: JsonValue,
): ChainSettings {
  refuseUnknownKeys(caip2, namespace, settings);
  const chain = decode(caip2, withVaultObjects(settings));
  const lists = readLists(caip2, chain);
  const operator = chain.operatorAddress;
  if (operator !== undefined) {
    if (!(namespace === 'eip155' ? ETHEREUM_ADDRESS : SOLANA_ADDRESS).test(operator)) {
      throw new SettingError(`${caip2}.operatorAddress must be an address of that chain`);
    }
    if (namespace === 'eip155') checkAddress(`${caip2}.operatorAddress`, operator);
  }
  return {
    caip2,
    namespace,
    reference,
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
    operatorAddress: namespace === 'eip155' ? operator?.toLowerCase() : operator,
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
function refuseUnknownKeys(caip2: string, namespace: ChainSettings['namespace'], settings: JsonValue): void {
  refuseOthers(caip2, settings, Chain);
  if (!isObject(settings)) return;
  const ethereumOnly = namespace === 'solana' && Object.keys(EvmOnly).find((key) => Object.hasOwn(settings, key));
  if (ethereumOnly) throw new SettingError(`${caip2}.${ethereumOnly} is for eip155 chains`);
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
  chain: Static<typeof Chain>,
): Pick<ChainSettings, 'prices' | 'morphoFactories' | 'vaults' | 'curators'> {
  if (chain.rpcUrls.some((url) => parseUrl(url) === undefined)) {
    throw new SettingError(`${caip2}.rpcUrls must hold http:// or https:// addresses`);
  }
  // The second of two equal ones would pass for another node that confirms what the first has said.
  if (repeated(chain.rpcUrls.map((url) => new URL(url).href)) !== undefined) {
    throw new SettingError(`${caip2}.rpcUrls names a node twice`);
  }
  const assets = (chain.assets ?? []).map(({ caip19 }) => readAsset(caip2, 'assets', caip19));
  const doubled = repeated(assets);
  if (doubled !== undefined) throw new SettingError(`${caip2}.assets has ${doubled} twice`);
  const prices = new Map<string, string>();
  for (const [caip19, price] of Object.entries(chain.prices ?? {})) {
    const asset = readAsset(caip2, 'prices', caip19).toLowerCase();
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
function readAsset(caip2: string, key: string, caip19: string): string {
  if (!ASSET.test(caip19)) throw new SettingError(`${caip2}.${key} has ${shown(caip19)}, which is no CAIP-19 asset`);
  if (!caip19.startsWith(`${caip2}/`)) {
    throw new SettingError(`${caip2}.${key} has ${caip19}, which is not on that chain`);
  }
  const [, address] = /\/erc20:(.*)$/.exec(caip19) ?? [];
  if (address === undefined) return caip19;
  checkAddress(`${caip2}.${key}`, address);
  return caip19.toLowerCase();
}

function readAddresses(where: string, addresses: readonly string[]): string[] {
  const read = addresses.map((address) => readAddress(where, address) ?? '');
  const doubled = repeated(read);
  if (doubled !== undefined) throw new SettingError(`${where} has ${doubled} twice`);
  return read;
}

function readAddress(where: string, address: string | undefined): string | undefined {
  if (address !== undefined) checkAddress(where, address);
  return address?.toLowerCase();
}

/** Refuses an address that is written with a checksum (EIP-55) which is not its own: a digit is wrong. */
function checkAddress(where: string, address: string): void {
  const digits = address.slice(2);
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase()) return;
  const hash = Buffer.from(keccak_256(Buffer.from(lower))).toString('hex');
  const written = lower.replace(/[a-f]/g, (letter, at: number) =>
    Number.parseInt(hash.charAt(at), 16) >= 8 ? letter.toUpperCase() : letter,
  );
  if (digits !== written) throw new SettingError(`${where} has ${address}, whose checksum is wrong: look for a typo`);
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

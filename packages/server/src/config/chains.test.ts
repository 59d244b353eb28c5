import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { chains } from './chains.ts';
import { SettingError } from './setting-error.ts';

const MAINNET = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const WETH = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2';
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const rpcUrls = ['https://one.example/', 'http://user:hunter2@two.example/hunter3?key=hunter4'];
const usdc = { caip19: `eip155:1/erc20:${USDC}`, symbol: 'USDC', name: 'USD Coin', decimals: 6 };

const read = (value: unknown) => chains(JSON.stringify(value));
const readOne = (settings: object, caip2 = 'eip155:1') => read({ [caip2]: { rpcUrls, ...settings } }).get(caip2);

function refusalOf(text: string): string {
  try {
    chains(text);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingError);
    return (error as Error).message;
  }
  return 'accepted';
}

describe('what is taken', () => {
  test('nothing is no chain', () => {
    expect(chains('')).toEqual(new Map());
    expect(chains('{}')).toEqual(new Map());
  });

  test('a node is enough, and the rest has defaults', () => {
    expect(readOne({})).toEqual({
      caip2: 'eip155:1',
      namespace: 'eip155',
      reference: '1',
      rpcUrls,
      confirmations: 1,
      pollMs: 1000,
      replaceAfterSeconds: 90,
      sendWithinSeconds: 3600,
      maxFeePerGas: 1_000_000_000_000n,
      sponsoredGasMax: 2_000_000n,
      sponsoredPerDay: { most: 50_000_000n, of: 'sub-organizations' },
      assets: [],
      prices: new Map(),
      batchContract: undefined,
      operatorAddress: undefined,
      aavePoolAddressesProvider: undefined,
      morphoFactories: [],
      vaults: [],
      curators: new Map(),
    });
  });

  test('everything, with addresses in lower case', () => {
    const given = {
      confirmations: 12,
      pollMs: 50,
      replaceAfterSeconds: 30,
      sendWithinSeconds: 60,
      sponsoredPerDay: '12.000000345',
      assets: [{ ...usdc, logoUrl: 'https://logo.example/usdc.png', stable: true }],
      prices: { [`eip155:1/erc20:${USDC}`]: '1.00', 'eip155:1/slip44:60': '2500' },
      batchContract: USDC,
      operatorAddress: WETH,
      aavePoolAddressesProvider: USDC,
      morphoFactories: [USDC, WETH],
      vaults: [{ address: WETH, curator: 'Steakhouse, Gauntlet' }],
    };
    expect(readOne(given)).toMatchObject({
      ...given,
      sponsoredPerDay: { most: 12_000_000_345n, of: 'tree' },
      prices: new Map([
        [`eip155:1/erc20:${USDC.toLowerCase()}`, '1.00'],
        ['eip155:1/slip44:60', '2500'],
      ]),
      batchContract: USDC.toLowerCase(),
      operatorAddress: WETH.toLowerCase(),
      aavePoolAddressesProvider: USDC.toLowerCase(),
      morphoFactories: [USDC.toLowerCase(), WETH.toLowerCase()],
      vaults: [WETH.toLowerCase()],
      curators: new Map([[WETH.toLowerCase(), 'Steakhouse, Gauntlet']]),
    });
  });

  test('has no limit on sponsored sends where the operator says so', () => {
    const settings = { rpcUrls: ['https://node.example'], sponsoredPerDay: 'unlimited' };
    const [chain] = chains(JSON.stringify({ 'eip155:1': settings })).values();
    expect(chain?.sponsoredPerDay).toBeUndefined();
  });

  test('Solana, by the name that people use or by its whole genesis hash', () => {
    const asset = { caip19: `${MAINNET}/token:${MINT}`, symbol: 'USDC', name: 'USD Coin', decimals: 6 };
    for (const name of ['solana:mainnet', MAINNET, `${MAINNET}JsfzRuaKeMu3rTUB`]) {
      const chain = read({ [name]: { rpcUrls, operatorAddress: MINT, assets: [asset] } }).get(MAINNET);
      expect(chain).toMatchObject({ caip2: MAINNET, namespace: 'solana', operatorAddress: MINT, assets: [asset] });
    }
  });

  test('a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'custos-chains-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'chains.json');
    writeFileSync(file, `\n${JSON.stringify({ 'eip155:31337': { rpcUrls } }, null, 2)}\n`);
    expect(chains(file).get('eip155:31337')).toMatchObject({ rpcUrls, reference: '31337' });
    writeFileSync(file, '{"eip155:1":');
    expect(refusalOf(file)).toMatch(/^must be a JSON object, or the path of a file with one: expected a JSON value/);
    expect(refusalOf(folder)).toBe('must be a JSON object, or the path of a file with one that can be read (EISDIR)');
  });

  test('what the guide gives as examples', () => {
    const guide = readFileSync(new URL('../../../../docs/guides/chains.md', import.meta.url), 'utf8');
    const examples = [...guide.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => [...chains(text).keys()]);
    expect(examples).toEqual([['eip155:31337'], ['eip155:1', 'eip155:8453', 'eip155:42161', 'eip155:137'], [MAINNET]]);
    // Every key has its line, and every line a key.
    const described = [...guide.matchAll(/^\| `(\w+)` \|/gm)].map(([, key]) => key);
    const known = /which is none of (.*)$/.exec(refusalOf('{"eip155:1":{"x":1}}'))?.[1]?.split(', ');
    expect(described.sort()).toEqual(known?.sort());
  });

  test('addresses without a checksum', () => {
    for (const batchContract of [USDC.toLowerCase(), `0x${USDC.slice(2).toUpperCase()}`])
      expect(readOne({ batchContract })).toMatchObject({ batchContract: USDC.toLowerCase() });
  });
});

describe('what is refused', () => {
  test.each<[string, object, string]>([
    ['a misspelled key', { rpcUrl: rpcUrls }, 'eip155:1 has the key "rpcUrl", which is none of rpcUrls, confirmations'],
    ['a key in another case', { pollMS: 100 }, 'eip155:1 has the key "pollMS", which is none of'],
    ['a key of an object of JavaScript', { constructor: 1 }, 'eip155:1 has the key "constructor", which is none of'],
    [
      'a misspelled key of an asset',
      { assets: [usdc, { ...usdc, decimal: 6 }] },
      'eip155:1.assets.1 has the key "decimal", which is none of caip19, symbol, name, decimals, logoUrl, stable',
    ],
    ['no node', { rpcUrls: [] }, 'eip155:1.rpcUrls:'],
    ['a node that is no address', { rpcUrls: ['ws://node.example'] }, 'eip155:1.rpcUrls.0: must be an http:// or'],
    ['a node without a host', { rpcUrls: ['https://'] }, 'eip155:1.rpcUrls must hold http:// or https:// addresses'],
    [
      'a node twice, though written in two ways',
      { rpcUrls: ['https://node.example', 'HTTPS://node.example:443/'.toLowerCase()] },
      'eip155:1.rpcUrls names a node twice',
    ],
    ['a number as text', { confirmations: '3' }, 'eip155:1.confirmations: must be integer'],
    ['no confirmations', { confirmations: 0 }, 'eip155:1.confirmations:'],
    ['an asset twice', { assets: [usdc, { ...usdc, symbol: 'X' }] }, 'eip155:1.assets has eip155:1/erc20:0xa0b8'],
    [
      'an asset twice, though written in two ways',
      { assets: [usdc, { ...usdc, caip19: usdc.caip19.toLowerCase() }] },
      'eip155:1.assets has eip155:1/erc20:0xa0b8',
    ],
    [
      'an asset of another chain',
      { assets: [{ ...usdc, caip19: `eip155:10/erc20:${USDC}` }] },
      `eip155:1.assets has eip155:10/erc20:${USDC}, which is not on that chain`,
    ],
    [
      'an asset without its address',
      { assets: [{ ...usdc, caip19: 'eip155:1/erc20:USDC' }] },
      'eip155:1.assets.0.caip19:',
    ],
    ['a price of nothing', { prices: { USDC: '1.00' } }, 'eip155:1.prices has "USDC", which is no CAIP-19 asset'],
    [
      'a price of an asset of another chain',
      { prices: { 'eip155:2/slip44:60': '1' } },
      'eip155:1.prices has eip155:2/slip44:60, which is not on that chain',
    ],
    [
      'two prices of an asset',
      { prices: { [usdc.caip19]: '1.00', [usdc.caip19.toLowerCase()]: '1.01' } },
      'eip155:1.prices has "eip155:1/erc20:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48" twice',
    ],
    ['a price that is no number', { prices: { [usdc.caip19]: '1e3' } }, 'eip155:1.prices must hold decimal numbers'],
    ['a price that is no text', { prices: { [usdc.caip19]: 1 } }, 'eip155:1.prices.'],
    ['a budget as a number', { sponsoredPerDay: 1 }, 'eip155:1.sponsoredPerDay: must be'],
    ['a budget below zero', { sponsoredPerDay: '-1' }, 'eip155:1.sponsoredPerDay: must be a decimal number as text'],
    ['a budget in wei', { sponsoredPerDay: '1000000' }, 'eip155:1.sponsoredPerDay: must be a decimal number as text'],
    ['a budget finer than is counted', { sponsoredPerDay: '0.0000000001' }, 'eip155:1.sponsoredPerDay: must be'],
    ['an operator of Solana', { operatorAddress: MINT }, 'eip155:1.operatorAddress must be an address of that chain'],
    [
      'an operator with a wrong digit',
      { operatorAddress: WETH.replace('02a', '03a') },
      'eip155:1.operatorAddress has 0xC03aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2, whose checksum is wrong: look for a typo',
    ],
    [
      'a contract with a wrong digit',
      { batchContract: USDC.replace('B48', 'B49') },
      'eip155:1.batchContract has 0xA0b8',
    ],
    ['a market with a wrong digit', { aavePoolAddressesProvider: USDC.replace('B48', 'B49') }, 'eip155:1.aavePool'],
    ['a factory with a wrong digit', { morphoFactories: [WETH, USDC.replace('B48', 'B49')] }, 'eip155:1.morphoFact'],
    [
      'an asset with a wrong digit',
      { assets: [{ ...usdc, caip19: usdc.caip19.replace('B48', 'B49') }] },
      'eip155:1.assets has 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB49, whose checksum is wrong',
    ],
    [
      'an unknown key of a vault',
      { vaults: [{ address: USDC, curators: 'x' }] },
      'eip155:1.vaults.0 has the key "curators"',
    ],
    ['a curator without a name', { vaults: [{ address: USDC, curator: ' ' }] }, 'eip155:1.vaults.0.curator'],
    ['a vault twice', { vaults: [USDC, USDC.toLowerCase()] }, 'eip155:1.vaults has 0xa0b8'],
  ])('%s', (_what, settings, message) => {
    const refusal = refusalOf(JSON.stringify({ 'eip155:1': { rpcUrls, ...settings } }));
    expect(refusal).toContain(message);
    expect(refusal).not.toContain('\n');
  });

  test('contracts of Ethereum on Solana', () => {
    for (const key of ['batchContract', 'aavePoolAddressesProvider']) {
      const chain = { rpcUrls, [key]: USDC };
      expect(refusalOf(JSON.stringify({ [MAINNET]: chain }))).toBe(`${MAINNET}.${key} is for eip155 chains`);
      expect(refusalOf(JSON.stringify({ 'eip155:1': chain }))).toBe('accepted');
    }
  });

  test.each([
    ['{"eip155:0":{}}', /^has the key "eip155:0", which is no chain: eip155:<number> or solana:<genesis hash>$/],
    ['{"1":{}}', /^has the key "1", which is no chain/],
    ['{"solana:testnet":{}}', /^has the key "solana:testnet", which is no chain/],
    ['{"__proto__":{"rpcUrls":["http://a.example"]}}', /^has the key "__proto__", which is no chain/],
    ['{"eip155:1":[]}', /^eip155:1: must be object$/],
    ['{"eip155:1":null}', /^eip155:1: must be object$/],
    ['{"eip155:1":{}}', /^eip155:1\.rpcUrls: is required$/],
    ['{"eip155:1":{},"eip155:1":{}}', /^must be a JSON object, .*: duplicate object key "eip155:1" at byte/],
    [`{"eip155:1":{"rpcUrls":["http://a.example"],"rpcUrls":[]}}`, /duplicate object key "rpcUrls"/],
    [
      `{"solana:mainnet":{"rpcUrls":["http://a.example"]},"${MAINNET}":{"rpcUrls":["http://a.example"]}}`,
      /^has solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp twice, once under another name$/,
    ],
    ['{', /^must be a JSON object, or the path of a file with one: expected an object key/],
    ['[]', /^must be a JSON object, or the path of a file with one that can be read \(ENOENT\)$/],
    ['chains.json', /^must be a JSON object, or the path of a file with one that can be read \(ENOENT\)$/],
    ['\0', /^must be a JSON object, or the path of a file with one that can be read \(ERR_INVALID_ARG_VALUE\)$/],
  ])('%j', (text, reason) => {
    expect(refusalOf(text)).toMatch(reason);
  });

  test('no refusal shows the address of a node, which may hold a password', () => {
    const secret = 'https://user:hunter2@node.example/';
    const chain = { rpcUrls: [secret] };
    expect(refusalOf(JSON.stringify({ 'eip155:1': chain }))).toBe('accepted');
    for (const value of [
      secret,
      `"${JSON.stringify({ 'eip155:1': chain })}"`,
      JSON.stringify({ 'eip155:1': { rpcUrls: [`x${secret}`] } }),
      JSON.stringify({ 'eip155:1': { rpcUrls: [secret, secret] } }),
      JSON.stringify({ 'eip155:1': { rpcUrls: ['https://hunter2@'] } }),
      JSON.stringify({ 'eip155:1': { ...chain, [secret]: 1 } }),
      JSON.stringify({ 'eip155:1': { ...chain, prices: { [secret]: '1' } } }),
      JSON.stringify({ 'eip155:1': { ...chain, assets: [{ ...usdc, [secret]: 1 }] } }),
      JSON.stringify({ 'eip155:1': { ...chain, assets: [{ ...usdc, caip19: secret }] } }),
      JSON.stringify({ 'eip155:1': { ...chain, operatorAddress: secret } }),
      JSON.stringify({ [secret]: chain }),
      JSON.stringify({ 'eip155:1': chain }).slice(0, -1),
    ]) {
      expect(refusalOf(value)).not.toMatch(/accepted|hunter2/);
    }
  });
});

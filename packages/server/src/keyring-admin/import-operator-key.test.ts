import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58 } from '@scure/base';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyTables } from '../../test/harness/databases.ts';
import { openRootKey } from '../bootstrap.ts';
import { type Config, readConfig } from '../config/config.ts';
import { createSendSigner } from '../domains/sends/signer.ts';
import { OperatorKeyReader, OperatorKeyStore } from '../domains/sends/store/operator-keys.ts';
import { dataModel } from '../domains.ts';
import { loadIntegrity } from '../integrity/load.ts';
import { ApiError } from '../lib/errors.ts';
import { openServiceKeys } from '../service-keys.ts';
import { openStorage } from '../storage/open.ts';
import { SqliteFile } from '../storage/sqlite-driver.ts';
import { importOperatorKey } from './import-operator-key.ts';
import { listConfiguredChains } from './list-chains.ts';

// What `custos chains import-key` stores and refuses; its own test runs it beside a service.

const SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const SOLANA_ADDRESS = base58.encode(Buffer.from(PUBLIC, 'hex'));
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
/** The first account of the usual mnemonic of local nodes. */
const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const OTHER_KEY = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';

const rpcUrls = ['https://user:hunter2@node.example/'];

let dataDir: string;

const configured = (chains: object): Config =>
  readConfig({ CUSTOS_DATA_DIR: dataDir, CUSTOS_KEYRING: 'inline', CUSTOS_CHAINS: JSON.stringify(chains) });

const BOTH = {
  'eip155:31337': { rpcUrls, operatorAddress: ADDRESS },
  [SOLANA]: { rpcUrls, operatorAddress: SOLANA_ADDRESS },
};

const importText = (config: Config, caip2: string, text: Uint8Array | string) =>
  importOperatorKey(config, { caip2, readText: async () => Buffer.from(text) });

async function withStorage<T>(use: (storage: Awaited<ReturnType<typeof openStorage>>) => Promise<T>): Promise<T> {
  const storage = await openStorage({ dataModel, ...configured({}), nowMs: 0, onIdleError: () => {} });
  try {
    const keyring = await openRootKey(storage, configured({}).rootKey, 'inline');
    await loadIntegrity(storage, keyring);
    await keyring.close();
    return await use(storage);
  } finally {
    await storage.close();
  }
}

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'custos-operator-'));
  copyTables(dataDir);
  await withStorage(async (storage) => {
    const keyring = await openRootKey(storage, configured({}).rootKey, 'inline');
    await openServiceKeys(storage, keyring, 0);
    await keyring.close();
  });
});

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe('an imported key', () => {
  test('signs as the operator of its chain, and only of that', async () => {
    const config = configured(BOTH);
    expect(await importText(config, 'eip155:31337', `0x${KEY}\n`)).toEqual({
      caip2: 'eip155:31337',
      address: ADDRESS,
      isNew: true,
    });
    const pair = base58.encode(Buffer.from(SEED + PUBLIC, 'hex'));
    // By the name that people use for the chain.
    expect(await importText(config, 'solana:mainnet', pair)).toEqual({
      caip2: SOLANA,
      address: SOLANA_ADDRESS,
      isNew: true,
    });
    await withStorage(async (storage) => {
      const keyring = await openRootKey(storage, config.rootKey, 'inline');
      const signer = createSendSigner({ storage, keyring });
      const digest = Buffer.alloc(32, 7);
      const [signature] = await signer.signAsOperator('eip155:31337', ADDRESS.toLowerCase(), 'ecdsa', [digest]);
      const compact = Buffer.concat([signature!.r, signature!.s]);
      const publicKey = secp256k1.getPublicKey(Buffer.from(KEY, 'hex'));
      expect(secp256k1.verify(compact, digest, publicKey, { prehash: false })).toBe(true);
      const [empty] = await signer.signAsOperator(SOLANA, SOLANA_ADDRESS, 'eddsa', [Buffer.alloc(0)]);
      // RFC 8032, 7.1, test 1: the signature of nothing.
      expect(Buffer.concat([empty!.r, empty!.s]).toString('hex')).toBe(
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
      );

      // Moved to another chain in the database, it does not open.
      await storage.write(async (store) => {
        const key = await store(OperatorKeyStore).operatorKey('eip155:31337', ADDRESS.toLowerCase());
        await store(OperatorKeyStore).insertOperatorKey({ ...key!, caip2: 'eip155:1' });
      });
      await expect(signer.signAsOperator('eip155:1', ADDRESS.toLowerCase(), 'ecdsa', [digest])).rejects.toMatchObject({
        name: 'KeyringError',
        code: 'NOT_OPENED',
      });
      await keyring.close();
    });
  });

  test('can be imported again, and is listed', async () => {
    const config = configured(BOTH);
    const listed = { nodes: 1, hasOperatorKey: false };
    expect(await listConfiguredChains(config)).toEqual([
      { caip2: 'eip155:31337', operatorAddress: ADDRESS.toLowerCase(), ...listed },
      { caip2: SOLANA, operatorAddress: SOLANA_ADDRESS, ...listed },
    ]);
    await importText(config, 'eip155:31337', KEY);
    expect(await importText(config, 'eip155:31337', KEY)).toMatchObject({ isNew: false });
    expect(await listConfiguredChains(config)).toMatchObject([{ hasOperatorKey: true }, { hasOperatorKey: false }]);
    const rows = await withStorage((storage) =>
      storage.read(OperatorKeyReader).operatorKey('eip155:31337', ADDRESS.toLowerCase()),
    );
    expect(rows?.publicKey).toBe(Buffer.from(secp256k1.getPublicKey(Buffer.from(KEY, 'hex'))).toString('hex'));
  });

  test('signs nothing once somebody else has changed it, until it is imported again', async () => {
    const config = configured(BOTH);
    await importText(config, 'eip155:31337', KEY);
    const sign = () =>
      withStorage(async (storage) => {
        const keyring = await openRootKey(storage, config.rootKey, 'inline');
        const signer = createSendSigner({ storage, keyring });
        const signed = signer.signAsOperator('eip155:31337', ADDRESS.toLowerCase(), 'ecdsa', [Buffer.alloc(32, 7)]);
        return await signed
          .then(
            () => 'signed',
            (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
          )
          .finally(() => keyring.close());
      });
    expect(await sign()).toBe('signed');
    const changes = ["sealed_key = x'00'", "public_key = '02'", 'created_at_ms = 1', 'chain_operator_key_mac = NULL'];
    for (const change of changes) {
      const file = new SqliteFile(join(dataDir, 'custos.db'));
      file.exec(`UPDATE chain_operator_key SET ${change}`);
      file.close();
      expect([change, await sign()]).toEqual([change, 'INTEGRITY_VIOLATION']);
      expect(await listConfiguredChains(config)).toMatchObject([{ hasOperatorKey: true }, { hasOperatorKey: false }]);
      expect(await importText(config, 'eip155:31337', KEY)).toMatchObject({ isNew: false });
      expect(await sign()).toBe('signed');
    }
  });

  test('is wiped from the memory of whoever handed it over', async () => {
    const text = Buffer.from(KEY);
    await importOperatorKey(configured(BOTH), { caip2: 'eip155:31337', readText: async () => text });
    expect(text).toEqual(Buffer.alloc(KEY.length));
    const wrong = Buffer.from('not a key');
    const refused = importOperatorKey(configured(BOTH), { caip2: 'eip155:31337', readText: async () => wrong });
    await expect(refused).rejects.toThrow('is no private key');
    expect(wrong).toEqual(Buffer.alloc(wrong.length));
  });
});

describe('nothing is stored', () => {
  const keys = async (): Promise<unknown[]> =>
    await withStorage(async (storage) => [
      await storage.read(OperatorKeyReader).operatorKey('eip155:31337', ADDRESS.toLowerCase()),
      await storage.read(OperatorKeyReader).operatorKey(SOLANA, SOLANA_ADDRESS),
    ]);
  const NONE = [undefined, undefined];

  test('of a key whose address is not the one that is configured', async () => {
    const refused = importText(configured(BOTH), 'eip155:31337', OTHER_KEY);
    await expect(refused).rejects.toThrow(
      'the key is that of 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, but operatorAddress of eip155:31337 in CUSTOS_CHAINS is 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266: nothing was stored',
    );
    expect(await keys()).toEqual(NONE);
  });

  test('while no address is configured; what to set is said', async () => {
    const refused = importText(configured({ 'eip155:31337': { rpcUrls } }), 'eip155:31337', KEY);
    await expect(refused).rejects.toThrow(
      `the key is that of ${ADDRESS}: set "operatorAddress": "${ADDRESS}" for eip155:31337 in CUSTOS_CHAINS`,
    );
    expect(await keys()).toEqual(NONE);
  });

  test('of a pair whose halves are of two keys', async () => {
    const pair = base58.encode(Buffer.from(SEED + KEY, 'hex'));
    await expect(importText(configured(BOTH), SOLANA, pair)).rejects.toThrow('the key is damaged');
    expect(await keys()).toEqual(NONE);
  });

  test('of what is no key of the curve', async () => {
    for (const text of ['00'.repeat(32), 'ff'.repeat(32)]) {
      await expect(importText(configured(BOTH), 'eip155:31337', text)).rejects.toMatchObject({
        name: 'KeyringError',
        code: 'INVALID_KEY',
      });
    }
    expect(await keys()).toEqual(NONE);
  });

  test('of a chain that is not configured, whose key is not even read', async () => {
    let asked = 0;
    const readText = async () => {
      asked += 1;
      return Buffer.from(KEY);
    };
    for (const caip2 of ['eip155:1', 'eip155', '', 'bip122:000000000019d6689c085ae165831e93']) {
      await expect(importOperatorKey(configured(BOTH), { caip2, readText })).rejects.toThrow(
        `chain ${caip2} is not configured: add it to CUSTOS_CHAINS first`,
      );
    }
    expect(asked).toBe(0);
    expect(await keys()).toEqual(NONE);
  });
});

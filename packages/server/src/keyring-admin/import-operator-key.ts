import { INSTALLATION_ID, type Keyring, sealHpkeJson } from '@custos/keyring';
import { chainName, networkOf } from '../chains/networks.ts';
import type { ChainSettings } from '../chains/settings.ts';
import type { Config } from '../config/config.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import { OperatorKeyStore } from '../domains/sends/store/operator-keys.ts';
import { randomId } from '../lib/ids.ts';
import { StartError } from '../lib/start-error.ts';
import { loadServiceKeys } from '../service-keys.ts';
import type { Storage } from '../storage/storage.ts';
import { openBeside, writeBeside } from './beside.ts';
import { type KeyMaterial, parseKeyText } from './key-text.ts';
import { openKeyringBeside } from './open-keyring.ts';

/** Whose import it is, where somebody's own import names the user. */
const IMPORTER = 'operator';

export interface OperatorKeyOptions {
  /** The chain, by any of its spellings. */
  readonly caip2: string;
  /** The text of the key, asked for once there is a place for it. It is wiped. */
  readonly readText: () => Promise<Uint8Array>;
}

export interface ImportedOperatorKey {
  readonly caip2: string;
  readonly address: string;
  /** False when the key was there before. */
  readonly isNew: boolean;
}

interface SealedKey {
  readonly address: string;
  readonly publicKey: string;
  readonly sealedKey: Uint8Array;
}

/** A key, and what it is sealed under. */
interface NewKey {
  readonly sealed: SealedKey;
  readonly wrapped: string;
}

/**
 * Puts the key that pays for the operator on a chain into the keyring, beside a running service, which uses it from then
 * on. Like every import it enters the keyring encrypted to a one-time key; only this process has it in the clear.
 */
export async function importOperatorKey(config: Config, options: OperatorKeyOptions): Promise<ImportedOperatorKey> {
  const chain = chainOf(config, options.caip2);
  const storage = await openBeside(config, 'chains import-key');
  try {
    if ((await storage.read(InstallationReader).get('root_key_id')) === undefined) {
      throw new StartError('the database is under no root key yet: start the service first');
    }
    const text = await options.readText();
    const made = await withKey(chain, text, (key) => sealKey(config, storage, chain, key));
    requireConfigured(chain, made.sealed.address);
    return await store(storage, chain, made);
  } finally {
    await storage.close();
  }
}

function chainOf({ chains }: Config, caip2: string): ChainSettings {
  const chain = chains.get(chainName(caip2));
  if (chain !== undefined) return chain;
  throw new StartError(`chain ${caip2} is not configured: add it to CUSTOS_CHAINS first`);
}

async function withKey<T>(
  { namespace }: ChainSettings,
  text: Uint8Array,
  use: (key: KeyMaterial) => Promise<T>,
): Promise<T> {
  let key: KeyMaterial | undefined;
  try {
    key = parseKeyText(namespace, text);
    return await use(key);
  } finally {
    text.fill(0);
    key?.privateKey.fill(0);
  }
}

async function sealKey(config: Config, storage: Storage, chain: ChainSettings, key: KeyMaterial): Promise<NewKey> {
  const keyring = await openKeyringBeside(storage, config);
  try {
    const wrapped = await storage.read(InstallationReader).get('deployment_key');
    if (wrapped === undefined) throw new StartError('the service has no keys yet: start the service first');
    // The one-time key is signed for like everybody's, which needs the service's keys.
    const keys = await loadServiceKeys(storage, keyring, wrapped);
    if (keys.length === 0) throw new StartError('the service has no keys yet: start the service first');
    const imported = await importInto(keyring, Buffer.from(wrapped, 'hex'), chain, key.privateKey);
    if (key.publicKey !== undefined && key.publicKey !== imported.publicKey) {
      throw new StartError('the second half of the key is not the public key of the first: the key is damaged');
    }
    return { sealed: imported, wrapped };
  } finally {
    await keyring.close();
  }
}

async function importInto(
  keyring: Keyring,
  organizationKey: Uint8Array,
  { caip2 }: ChainSettings,
  privateKey: Uint8Array,
): Promise<SealedKey> {
  const holder = { organizationKey, organizationId: INSTALLATION_ID };
  const targetId: string = randomId();
  const target = await keyring.createImportTarget({ ...holder, ownerId: targetId }, IMPORTER);
  const bundle = sealHpkeJson(Buffer.from(target.targetPublicKey, 'hex'), privateKey);
  const { curve, format } = networkOf(caip2).address;
  const { sealedKey, publicKey, addresses } = await keyring.importPrivateKey(
    { ...holder, ownerId: caip2 },
    [{ id: targetId, sealed: target.sealedTarget }],
    bundle,
    curve,
    [format],
  );
  return { sealedKey, publicKey, address: addresses[0] ?? '' };
}

/** A key whose address is not the one that was announced would pay for nothing, or from the wrong account. */
function requireConfigured({ caip2, operatorAddress }: ChainSettings, address: string): void {
  if (operatorAddress === undefined) {
    throw new StartError(
      `the key is that of ${address}: set "operatorAddress": "${address}" for ${caip2} in CUSTOS_CHAINS, and run this again`,
    );
  }
  if (operatorAddress === networkOf(caip2).address.canonical(address)) return;
  throw new StartError(
    `the key is that of ${address}, but operatorAddress of ${caip2} in CUSTOS_CHAINS is ${operatorAddress}: nothing was stored`,
  );
}

async function store(
  storage: Storage,
  { caip2 }: ChainSettings,
  { sealed, wrapped }: NewKey,
): Promise<ImportedOperatorKey> {
  const address = networkOf(caip2).address.canonical(sealed.address);
  const isNew = await writeBeside(storage, async (stores) => {
    // Until the end of the transaction: what is under an earlier key must not be stored.
    if (!(await stores(InstallationStore).exchange('deployment_key', wrapped, wrapped)))
      throw new StartError(
        'the key of the deployment was changed meanwhile: nothing was stored, run the command again',
      );
    const isThere = await stores(OperatorKeyStore).hasOperatorKey(caip2, address);
    await stores(OperatorKeyStore).insertOperatorKey({ ...sealed, caip2, address, createdAtMs: Date.now() });
    return !isThere;
  });
  return { caip2, address: sealed.address, isNew };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Keyring } from '@custos/keyring';
import type { Config } from '../config/config.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import {
  type SealedColumn,
  SealedReader,
  type SealedRow,
  SealedStore,
  WRAPPED_KEY_BYTES,
} from '../core/store/sealed.ts';
import { parseRotation, type Rotation } from '../key-rotation/rotation.ts';
import { randomId } from '../lib/ids.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';
import { openBeside, writeBeside } from './beside.ts';
import { type KeyOwner, ownerOf } from './key-owner.ts';
import { lockRotations, type RotationLock } from './lock.ts';
import { openKeyringBeside } from './open-keyring.ts';
import { dropRecord, requireNewProcesses, takeRecord, waitForProcesses } from './processes.ts';

/** What of a sealed secret another organization key changes (SPEC.md of the keyring, section 4). */
const HEAD_BYTES = 94;
const PAGE = 100;
const PAGE_OF_LARGE = 16;
/** Requests that know the organization by its earlier key alone have ended by then, but for very slow ones. */
const DRAIN_MS = 15_000;
/** Far longer than any request: nobody seals under the earlier key any more. */
const EARLIER_KEPT_MS = 60 * 60 * 1000;
const SHOWN_MAX = 10;

export interface OrganizationRotationOptions {
  /** `deployment` for the key that the service's own keys are under. */
  readonly organizationId: string;
  /** Told what is going on, a line each. */
  readonly say: (line: string) => void;
}

export interface RotatedOrganization {
  readonly rewrapped: number;
  /** When the earlier key can go; absent when it is gone. */
  readonly finishesFromMs?: number;
}

interface Parts {
  readonly storage: Storage;
  readonly keyring: Keyring;
  readonly lock: RotationLock;
  readonly owner: KeyOwner;
  readonly say: (line: string) => void;
}

/**
 * Gives an organization, or the service for its own keys, a new key and wraps the data key of each of its secrets under it, beside a running service. The
 * earlier key stays beside the new one, for requests that began with it. A run takes it away when it has seen that
 * nothing is under it any more, an hour after the last run that found something. Each step leaves a state in which
 * everything opens and from which the next run goes on (docs/decisions/0058).
 */
export async function rotateOrganizationKey(
  config: Config,
  options: OrganizationRotationOptions,
): Promise<RotatedOrganization> {
  const lock = await lockRotations(config.databaseUrl);
  try {
    const storage = await openBeside(config, 'keyring rotate');
    try {
      const owner = ownerOf(options.organizationId);
      if ((await owner.find(storage.read)) === undefined)
        throw new StartError(`there is no ${owner.name}: nothing was changed`);
      const keyring = await openKeyringBeside(storage, config);
      try {
        await requireSettledRootKey(storage, keyring);
        await requireNewProcesses(storage, lock, options.say);
        return await rotateAlone({ storage, keyring, lock, owner, say: options.say });
      } finally {
        await keyring.close();
      }
    } finally {
      await storage.close();
    }
  } finally {
    await lock.release();
  }
}

/** A new key would be wrapped under whatever root key is active here, which others may not hold yet. */
async function requireSettledRootKey(storage: Storage, keyring: Keyring): Promise<void> {
  const facts = await storage.read(InstallationReader).facts(['rotation', 'root_key_id']);
  const pending = parseRotation(facts.get('rotation'));
  const { active } = await keyring.refreshRing();
  if ((pending === undefined || pending.isQuestion === true) && active === facts.get('root_key_id')) return;
  const command = pending?.retires === undefined ? 'rotate' : `retire ${printable(pending.retires)}`;
  throw new StartError(`\`custos keyring ${command}\` was interrupted: run it again first; nothing was changed`);
}

async function rotateAlone(parts: Parts): Promise<RotatedOrganization> {
  const { storage, owner, say } = parts;
  const isNew = await giveNewKey(parts);
  if (isNew) {
    say(`${owner.name} has a new key; waiting ${DRAIN_MS / 1000} seconds for requests that began before`);
    await sleep(DRAIN_MS);
  }
  // The very bytes that the pass looks with are those that the earlier key is taken out of.
  const wrapped = await wrappedKey(parts);
  const { rewrapped, missed } = await rewrapSecrets(parts, wrapped);
  const isClean = rewrapped === 0 && missed === 0;
  if (missed > 0) say(`${missed} secrets were changed meanwhile: the next run looks at them again`);
  const knownMs = isClean ? await storage.read(InstallationReader).organizationKeySinceMs(owner.id) : undefined;
  // One of the future was written by a wrong clock, and would keep the earlier key until then.
  const sinceMs = knownMs === undefined || knownMs > Date.now() ? await restartHour(parts) : knownMs;
  const finishesFromMs = sinceMs + EARLIER_KEPT_MS;
  if (Date.now() < finishesFromMs) return { rewrapped, finishesFromMs };
  await askProcesses(parts);
  await removeEarlierKey(parts, wrapped);
  return { rewrapped };
}

/**
 * Every process that runs answers, and knows that an organization may have two keys, before one goes. Whoever does not
 * answer counts as killed; should it go on nevertheless, it stores nothing under the earlier key, because it compares the keys
 * when it holds the organization.
 */
async function askProcesses({ storage, keyring, lock, say }: Parts): Promise<void> {
  await requireSettledRootKey(storage, keyring);
  const facts = await storage.read(InstallationReader).facts(['rotation', 'root_key_id']);
  const question: Rotation = { id: randomId(), to: facts.get('root_key_id') ?? '', isQuestion: true };
  await writeBeside(storage, (store) => takeRecord(store, facts.get('rotation'), question));
  try {
    await waitForProcesses(storage, lock, question, { waitSeconds: 0, say });
  } finally {
    // One that stays is in nobody's way.
    await dropRecord(storage, question).catch(() => {});
  }
  await requireNewProcesses(storage, lock, say);
}

/** Something was still under the earlier key, so that somebody may have sealed under it until now. */
async function restartHour({ storage, owner }: Parts): Promise<number> {
  const nowMs = Date.now();
  await writeBeside(storage, (store) => store(InstallationStore).putOrganizationKeySince(owner.id, nowMs));
  return nowMs;
}

/** False when an earlier run did so. */
async function giveNewKey(parts: Parts): Promise<boolean> {
  const { storage, keyring, owner } = parts;
  for (;;) {
    const wrapped = await wrappedKey(parts);
    if (wrapped.length > WRAPPED_KEY_BYTES) return false;
    const renewed = await keyring.renewOrganizationKey(owner.id, wrapped);
    const isDone = await writeBeside(storage, async (store) => {
      // Whoever stores something now is waited for. Whoever comes later finds that the key is another one.
      await owner.hold(store);
      if (!(await owner.exchange(store, wrapped, renewed))) return false;
      await store(InstallationStore).putOrganizationKeySince(owner.id, Date.now());
      return true;
    });
    if (isDone) return true;
    // Somebody else changed it meanwhile.
  }
}

interface Pass {
  /** How many were under the earlier key and are under the new one. */
  rewrapped: number;
  /** How many were under the earlier key and changed before they could be exchanged. */
  missed: number;
  readonly broken: string[];
}

async function rewrapSecrets(parts: Parts, wrapped: Uint8Array): Promise<Pass> {
  const pass: Pass = { rewrapped: 0, missed: 0, broken: [] };
  const { broken } = pass;
  for (const column of parts.owner.columns) await rewrapColumn(parts, wrapped, column, pass);
  if (broken.length === 0) return pass;
  const more = broken.length > SHOWN_MAX ? ` and ${broken.length - SHOWN_MAX} more` : '';
  throw new StartError(
    `these secrets do not open, so that the earlier key stays: ${broken.slice(0, SHOWN_MAX).join(', ')}${more} (see \`custos keyring verify\`)`,
  );
}

async function rewrapColumn(
  { storage, keyring, lock, owner }: Parts,
  wrapped: Uint8Array,
  column: SealedColumn,
  pass: Pass,
): Promise<void> {
  const size = column.isLarge ? PAGE_OF_LARGE : PAGE;
  let after = owner.begin(column);
  for (;;) {
    await lock.requireHeld();
    const page = await storage.read(SealedReader).page(column, after, size);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.key;
    const rows = page.filter((row) => row.organizationId === owner.id && row.sealed !== undefined);
    const heads = rows.map(({ ownerId, kind, sealed }) => ({
      ownerId,
      kind,
      sealed: bytesOf(sealed).slice(0, HEAD_BYTES),
    }));
    const renewed = heads.length === 0 ? [] : await keyring.rewrapDataKeys(wrapped, owner.id, heads);
    const changes: { readonly row: SealedRow; readonly head: Uint8Array }[] = [];
    for (const [index, row] of rows.entries()) {
      const head = renewed[index];
      if (head === null || head === undefined)
        pass.broken.push(`${column.table} ${printable(row.key.filter((part) => part !== owner.id).join(' '))}`);
      else if (!Buffer.from(head).equals(heads[index]?.sealed ?? new Uint8Array(0))) changes.push({ row, head });
    }
    if (changes.length > 0) {
      const exchanged = await writeBeside(storage, async (store) => {
        let done = 0;
        // Others read a row, change it and write it back whole: none of them may do so around this exchange.
        await owner.hold(store);
        for (const { row, head } of changes) {
          const from = bytesOf(row.sealed);
          const to = Buffer.concat([head, from.subarray(HEAD_BYTES)]);
          if (await store(SealedStore).exchangeSealed(column, row.key, from, to)) done += 1;
        }
        return done;
      });
      pass.rewrapped += exchanged;
      pass.missed += changes.length - exchanged;
    }
    if (last.organizationId !== owner.id) return;
  }
}

/** Only if the key is the one that the pass looked with. */
async function removeEarlierKey({ storage, lock, owner }: Parts, wrapped: Uint8Array): Promise<void> {
  await lock.requireHeld();
  const isDone = await writeBeside(storage, async (store) => {
    await owner.hold(store);
    if (!(await owner.exchange(store, wrapped, wrapped.slice(0, WRAPPED_KEY_BYTES)))) return false;
    await store(InstallationStore).removeOrganizationKeySince(owner.id);
    return true;
  });
  if (isDone) return;
  throw new StartError(`the key of ${owner.name} was changed meanwhile: the earlier key stays, run the command again`);
}

async function wrappedKey({ storage, owner }: Parts): Promise<Uint8Array> {
  const wrapped = await owner.find(storage.read);
  if (wrapped !== undefined) return wrapped;
  throw new StartError(`${owner.name} is gone`);
}

const bytesOf = (sealed: Uint8Array | undefined): Uint8Array => sealed ?? new Uint8Array(0);

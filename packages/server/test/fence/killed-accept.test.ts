import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import type { Send } from '../../src/chains/send/model.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { SendReader, SendStore } from '../../src/domains/sends/store/sends.ts';
import { raiseFence } from '../../src/fence/raise.ts';
import { acceptRestore } from '../../src/fence-accept/accept.ts';
import { showFence } from '../../src/fence-accept/show.ts';
import { type OrganizationId, randomId } from '../../src/lib/ids.ts';
import { withStorage } from '../fixtures/integrity.ts';
import { KeyDeployment } from '../fixtures/key-deployment.ts';
import { createPostgresDatabase, DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { letFilesGo } from '../restore/support.ts';
import { keyOf, msAt, RpcChain, sign } from '../restore-review/rpc-chain.ts';
import { organization } from '../storage/place.ts';

// `custos restore accept` is killed at each moment between what it writes, with sends of every kind in question.

const SCRIPT = fileURLToPath(new URL('killed-accept.mjs', import.meta.url));
const SECONDS = 240_000;
const CAIP2 = 'eip155:31337';
const TO: Hex = `0x${'ab'.repeat(20)}`;
const NAMED: Hex = `0x${'dd'.repeat(32)}`;
/** Blocks until the backup, and from there to the restore. */
const [BEFORE, SINCE] = [450, 100];
/** Addresses in the order in which their sends are settled. */
const [FOLLOWER, PAYER] = [keyOf(7), keyOf(8)].sort((one, other) =>
  one.address.toLowerCase() < other.address.toLowerCase() ? -1 : 1,
) as [ReturnType<typeof keyOf>, ReturnType<typeof keyOf>];

/** A kill at every moment takes long: at every second or fourth one, unless there is time. */
const EVERY: Readonly<Record<DatabaseKind, number>> =
  times(1) > 1 ? { sqlite: 1, postgres: 1 } : { sqlite: 2, postgres: 4 };

const NAMES = ['landed', 'failed', 'resent', 'named', 'unknown', 'behind'] as const;
type Name = (typeof NAMES)[number];

interface Looked {
  readonly state: string;
  readonly isOpen: boolean;
  readonly txHash: string | undefined;
}

function sendOf(organizationId: OrganizationId, value: string, from = PAYER): Send {
  const sender = from.address.toLowerCase();
  return {
    organizationId,
    id: randomId(),
    activityId: randomId(),
    ...{ caip2: CAIP2, sender, lane: sender, purpose: 'send', afterId: undefined },
    request: { kind: 'ethereum', calls: [{ to: TO, value, data: '0x' }] },
    ...{ state: 'INITIALIZED', nonce: undefined, attempts: [], txHash: undefined, block: undefined, error: undefined },
    ...{ isOpen: true, createdAtMs: msAt(BEFORE), updatedAtMs: msAt(BEFORE) },
  };
}

/** A database that was restored, of which others are copies. */
class Restored implements AsyncDisposable {
  readonly made: KeyDeployment;
  readonly sends: Readonly<Record<Name, Send>>;
  readonly hash: Hex;
  readonly #rpcUrl: string;

  private constructor(made: KeyDeployment, sends: Readonly<Record<Name, Send>>, hash: Hex, rpcUrl: string) {
    this.made = made;
    this.sends = sends;
    this.hash = hash;
    this.#rpcUrl = rpcUrl;
  }

  static async make(kind: DatabaseKind): Promise<Restored> {
    const chain = new RpcChain();
    chain.mine(BEFORE);
    const sent = await sign(PAYER, { nonce: 0, to: TO, value: 10n });
    chain.mine(5, sent);
    chain.mine(SINCE - 6);
    const made = await KeyDeployment.make(kind);
    const parent = organization({ id: randomId(), name: 'Parent', wrappedKey: new Uint8Array(18) });
    const of = (value: string): Send => sendOf(parent.id, value);
    const unknown = of('14');
    const sends = {
      landed: of('10'),
      failed: of('11'),
      resent: of('12'),
      named: of('13'),
      unknown,
      behind: { ...sendOf(parent.id, '15', FOLLOWER), afterId: unknown.id },
    };
    await withStorage(made.config, (storage) =>
      storage.write(async (store) => {
        await store(OrganizationStore).insert(parent);
        for (const name of NAMES) await store(SendStore).insert(sends[name]);
        const atMs = { snapshotAtMs: msAt(BEFORE), restoredAtMs: msAt(BEFORE + SINCE) };
        await raiseFence(store, { backupId: 'a backup', exhaust: false, ...atMs });
      }),
    );
    return new Restored(made, sends, sent.hash, await chain.serve());
  }

  get decisions(): string[] {
    const { failed, resent, named, behind } = this.sends;
    // The last one is decided, and held all the same with the one that it waits for.
    return [`${failed.id}=failed`, `${resent.id}=resend`, `${named.id}=landed:${NAMED}`, `${behind.id}=resend`];
  }

  /** Calls with the settings of a copy, which is gone afterwards. */
  async copied(use: (environment: Record<string, string>, config: Config) => Promise<void>): Promise<void> {
    const dataDir = mkdtempSync(join(tmpdir(), 'custos-accept-'));
    const { databaseUrl } = this.made.config;
    await using postgres =
      databaseUrl === undefined ? undefined : await createPostgresDatabase({ copyOf: databaseUrl });
    try {
      await letFilesGo();
      cpSync(this.made.config.dataDir, dataDir, { recursive: true });
      const environment = {
        CUSTOS_DATA_DIR: dataDir,
        CUSTOS_KEYRING: 'inline',
        CUSTOS_CHAINS: JSON.stringify({ [CAIP2]: { rpcUrls: [this.#rpcUrl] } }),
        ...(postgres && { CUSTOS_DATABASE_URL: postgres.url }),
      };
      await use(environment, readConfig(environment));
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }

  async look(config: Config): Promise<Record<Name, Looked>> {
    return await withStorage(config, async ({ read }) => {
      const looked = new Map<string, Looked>();
      for (const name of NAMES) {
        const { organizationId, id } = this.sends[name];
        const { state, isOpen, txHash } = await read(SendReader).get(organizationId, id);
        // Whether one that is in a block is still watched is another question.
        looked.set(name, { state, isOpen: isOpen && state !== 'INCLUDED', txHash });
      }
      return Object.fromEntries(looked) as Record<Name, Looked>;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.made[Symbol.asyncDispose]();
  }
}

const WAITS: Looked = { state: 'INITIALIZED', isOpen: true, txHash: undefined };
const HELD: Looked = { ...WAITS, isOpen: false };

/** Where it was killed; undefined where it came to its end before. */
async function killedAt(environment: Readonly<Record<string, string>>, call: number, decisions: readonly string[]) {
  const child = spawn(process.execPath, [SCRIPT, String(call), ...decisions], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect(texts.stderr).toBe('');
  if (code === 0) return undefined;
  expect([call, signal]).toEqual([call, 'SIGKILL']);
  return texts.stdout;
}

test.each(DATABASES)(
  'an acceptance that is killed on %s leaves the fence up, or everything settled, and goes on when it is run again',
  { timeout: SECONDS },
  async (kind) => {
    await using restored = await Restored.make(kind);
    const { decisions, hash } = restored;
    const settled: Record<Name, Looked> = {
      landed: { state: 'INCLUDED', isOpen: false, txHash: hash },
      failed: { state: 'FAILED', isOpen: false, txHash: undefined },
      resent: WAITS,
      named: { state: 'INCLUDED', isOpen: false, txHash: NAMED },
      unknown: HELD,
      behind: HELD,
    };
    // A service sees that it is in a block, where nobody has looked before.
    const recorded: Looked = { ...settled.landed, state: 'BROADCASTING', isOpen: true };
    const steps: string[] = [];
    for (let call = 1, isEnded = false; !isEnded; call += EVERY[kind]) {
      await restored.copied(async (environment, config) => {
        const step = await killedAt(environment, call, decisions);
        isEnded = step === undefined;
        if (step !== undefined) steps.push(step);
        const where = `${step ?? 'ended'} (${call})`;
        const found = await restored.look(config);
        for (const name of NAMES)
          expect([WAITS, settled[name], ...(name === 'landed' ? [recorded] : [])], `${name} ${where}`).toContainEqual(
            found[name],
          );
        const isAccepted = isEnded || step === 'accepted';
        expect(await showFence(config), where).toMatchObject({ isUp: !isAccepted });
        if (isAccepted) {
          expect(found, where).toEqual(settled);
          return;
        }
        const accepted = await acceptRestore(config, { decisions, holdsUndecided: true, confirm: async () => true });
        expect(accepted, where).toMatchObject({ acceptedBy: expect.any(String), held: 2 });
        expect(await showFence(config), where).toMatchObject({ isUp: false });
        const { landed, ...others } = await restored.look(config);
        const { landed: _, ...wanted } = settled;
        expect(others, where).toEqual(wanted);
        expect([settled.landed, recorded], where).toContainEqual(landed);
      });
    }
    if (EVERY[kind] === 1)
      expect([...new Set(steps)]).toEqual([
        'confirmed',
        'settled',
        'looked at',
        'held behind',
        'all settled',
        'accepted',
      ]);
  },
);

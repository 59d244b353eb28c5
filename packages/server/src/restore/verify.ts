import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { InstallationReader } from '../core/store/installation.ts';
import { raiseFence } from '../fence/raise.ts';
import { doubtIfBehind, TIME_MS_MAX } from '../key-rotation/clock-doubt.ts';
import { openBeside, writeBeside } from '../keyring-admin/beside.ts';
import { openKeyringBeside } from '../keyring-admin/open-keyring.ts';
import { randomId } from '../lib/ids.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Sample } from './checks/addresses.ts';
import { type Checked, checkAll } from './checks/check.ts';
import type { Finding } from './checks/finding.ts';
import type { Say } from './say.ts';

const DAMAGE_LENGTH_MAX = 200;

export interface VerifyOptions {
  readonly sample: Sample;
  /** Whether a database file that was copied without its log may be used from now on, behind a fence. */
  readonly acceptsLostLog: boolean;
  readonly say: Say;
  readonly report: (finding: Finding) => void;
}

export interface VerifiedDatabase {
  readonly checked: Checked;
  /** Whether the loss of a log was accepted. */
  readonly accepted: boolean;
}

/** Checks a database beside a running service, or without one, and tells a file that was copied without its log. */
export async function verifyDatabase(config: Config, options: VerifyOptions): Promise<VerifiedDatabase> {
  const { dataDir, databaseUrl } = config;
  const file = join(dataDir, 'custos.db');
  const marks = databaseUrl === undefined ? await import('../storage/sqlite-open-mark.ts') : undefined;
  const isLacking = marks?.lacksLog(file) ?? false;
  if (options.acceptsLostLog && !isLacking)
    throw new StartError(
      databaseUrl === undefined
        ? `the database ${file} lacks no log: there is nothing to accept`
        : 'a PostgreSQL database lacks no log of this kind: there is nothing to accept',
    );
  const storage = await openBeside(config, 'verify', { opensWithoutLog: true });
  let checked: Checked;
  let broken: number;
  try {
    const read = storage.read(InstallationReader);
    if (isLacking && !options.acceptsLostLog) options.report({ check: 'log', file });
    if ((await read.get('root_key_id')) === undefined)
      throw new StartError(
        isLacking
          ? `the database ${file} lacks its log, and with it everything: restore a backup`
          : 'the database is under no root key yet: start the service first',
      );
    const damages = isLacking ? (marks?.damageOf(file) ?? []) : [];
    for (const because of damages)
      options.report({ check: 'file', file, because: printable(because, DAMAGE_LENGTH_MAX) });
    if (damages.length > 0 && options.acceptsLostLog) throw damaged(file);
    broken = damages.length;
    const keyring = await openKeyringBeside(storage, config);
    try {
      checked = await checkAll(storage, keyring, options);
      if (options.acceptsLostLog) {
        // What was committed last is missing, as after a restore: what was paid may be paid again.
        const restoredAtMs = Date.now();
        const snapshotAtMs = (await read.newestTimeMs()) ?? restoredAtMs;
        requirePast(snapshotAtMs, restoredAtMs);
        await writeBeside(storage, (store) =>
          raiseFence(store, { backupId: `lost-log-${randomId()}`, snapshotAtMs, restoredAtMs, exhaust: false }),
        );
      }
    } finally {
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
  const accepted = options.acceptsLostLog && isLacking;
  if (accepted) marks?.acceptWithoutLog(file);
  const findings = checked.findings + broken + (isLacking && !accepted ? 1 : 0);
  return { checked: { ...checked, findings }, accepted };
}

const damaged = (file: string): StartError =>
  new StartError(
    `the database ${file} is damaged: it was probably copied while the service wrote to it. Copy the folder again as a whole, or restore a backup; nothing was accepted`,
  );

/** Whatever is issued before the newest time in the database is refused for ever, and nothing would be accepted until then. */
function requirePast(newestMs: number, nowMs: number): void {
  const doubt = doubtIfBehind(nowMs, Math.min(newestMs, TIME_MS_MAX), 'the newest thing that is stored');
  if (doubt === undefined) return;
  throw new StartError(
    `${doubt.reason}: set the clock if it is wrong; otherwise somebody else wrote that time, so see \`custos verify\` and restore a backup; nothing was accepted`,
  );
}

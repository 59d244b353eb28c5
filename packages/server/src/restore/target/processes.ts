import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { PROCESS } from '../../core/store/installation.ts';
import { processStateOf } from '../../key-rotation/rotation.ts';
import { nameOf } from '../../keyring-admin/processes.ts';
import { printable } from '../../lib/printable.ts';
import { StartError } from '../../lib/start-error.ts';
import type { Say } from '../say.ts';

const LOOK_EVERY_MS = 100;
/** A running process looks every second; one that has not answered by then was killed. */
const SILENT_MS_MAX = 10_000;

interface Row {
  readonly name: string;
  readonly value: string;
}

/**
 * Refuses while a service process runs. One that was killed is still known to the database, so each is forgotten for a moment:
 * a running process makes itself known again within a second, also in the middle of a rotation. Nobody else may take the silence
 * for an answer, so this is for whoever has the lock of rotations. The schema may be of any version.
 */
export async function requireNoProcess(client: pg.Client, say: Say): Promise<void> {
  const { rows: known } = await client.query<Row>(
    'DELETE FROM deployment WHERE starts_with(name, $1) RETURNING name, value',
    [PROCESS],
  );
  if (known.length === 0) return;
  say(`asking whether ${known.map(describe).join(', ')} still runs`);
  const givesUpAtMs = performance.now() + SILENT_MS_MAX;
  while (performance.now() < givesUpAtMs) {
    await sleep(LOOK_EVERY_MS);
    const { rows } = await client.query<Row>('SELECT name, value FROM deployment WHERE starts_with(name, $1)', [
      PROCESS,
    ]);
    if (rows.length === 0) continue;
    throw new StartError(
      `a Custos service is running on this database (${rows.map(describe).join(', ')}): stop it first; nothing was changed`,
    );
  }
}

/** Somebody may have spoiled the row. */
function describe({ name, value }: Row): string {
  const state = processStateOf(value);
  return state === undefined ? printable(name) : nameOf(state);
}

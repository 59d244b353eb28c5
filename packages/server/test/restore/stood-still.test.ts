import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isAlive, onPostgres, suspend, waitUntil } from '../faults/support.ts';
import { BackedUp, backUp, dump, restoreInto } from './support.ts';

const SECONDS = 120_000;
const SESSIONS =
  "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'custos'";

/** It is taken for killed, and wakes up on tables that it does not know. */
test.runIf(existsSync('/proc/self/stat'))(
  'a process that stood still during a restore does nothing more on the database',
  { timeout: SECONDS },
  async () => {
    await using made = await BackedUp.make('postgres');
    const { server, world, config, key } = made;
    const file = await backUp(config, `${made.folder}/later.backup`, key);
    await server.start();
    const { root } = world.at(server.baseUrl);
    // The same request is done while it runs.
    await root.run('create_user_tag', { userTagName: 'before', userIds: [] });
    const { pid } = server;
    await suspend(pid);
    // They reach it while it stands still.
    const queued = Array.from({ length: 5 }, (_, index) =>
      root.submit('create_user_tag', { userTagName: `queued ${index}`, userIds: [] }).catch(() => undefined),
    );
    const url = server.databaseUrl as string;
    const { restored } = await restoreInto(config, file, key);
    expect(restored?.kept).toBeDefined();
    const { rows } = await onPostgres(url, (client) => client.query(SESSIONS));
    expect(rows).toEqual([{ count: 0 }]);
    const after = await dump(config);
    process.kill(pid, 'SIGCONT');
    await waitUntil('it has ended', () => !isAlive(pid));
    for (const answer of await Promise.all(queued)) expect(answer?.status).not.toBe(200);
    expect(server.output.stderr).toContain('a backup was restored over the database while this process stood still');
    expect(await dump(config)).toEqual(after);
  },
);

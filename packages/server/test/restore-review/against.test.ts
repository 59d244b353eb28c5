import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArchiveRow, WrittenPart } from '../../src/backup/archive/parts.ts';
import { writeArchive } from '../../src/backup/archive/write.ts';
import type { Difference } from '../../src/restore-review/against/difference.ts';
import { openPostgresUrl } from '../../src/restore-review/against/postgres.ts';
import { openSqliteFile } from '../../src/restore-review/against/sqlite.ts';
import type { ReviewFinding } from '../../src/restore-review/review.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { onPostgres } from '../faults/support.ts';
import { newWallet } from '../flows/fixtures/wallets.ts';
import { createSubOrganization, createUser, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import { RestoredPlace } from './restored-place.ts';

// What a review of a restore says of credentials, rules and keys that somebody has changed since the backup.

const POLICY = { effect: 'EFFECT_DENY', consensus: 'true', condition: 'true', notes: '' };

describe.each(DATABASES)('a restored database compared with what is newer, on %s', (database) => {
  let lost: TestServer;
  let restored: RestoredPlace;
  let root: TestClient;
  const made: Record<string, string> = {};
  /** Activities as `list_activities` answers them, when all is done. */
  let activities: object[];

  beforeAll(async () => {
    lost = await TestServer.start({ database });
    root = TestClient.root(lost.credentials, lost.baseUrl);
    const carol = await createUser(root, 'Carol');
    made['carol'] = carol.userId;
    made['removedKey'] = (await keysOf(carol.userId))[0] as string;
    made['gone'] = (await createUser(root, 'Gone')).userId;
    made['kept'] = (await root.run('create_policy', { ...POLICY, policyName: 'Kept' })).policyId;
    made['raised'] = (await root.run('create_policy', { ...POLICY, policyName: 'Raised' })).policyId;
    made['dropped'] = (await root.run('create_policy', { ...POLICY, policyName: 'Dropped' })).policyId;
    await newWallet(root);
    await lost.kill();
    restored = await RestoredPlace.copyOf(lost);
    await restored.raiseFence(0);

    await lost.start();
    root = TestClient.root(lost.credentials, lost.baseUrl);
    await root.run('delete_api_keys', { userId: made['carol'], apiKeyIds: [made['removedKey']] });
    await root.run('delete_users', { userIds: [made['gone']] });
    made['mallory'] = (await createUser(root, 'Mallory')).userId;
    await root.run('update_policy', {
      policyId: made['raised'],
      policyEffect: 'EFFECT_ALLOW',
      policyCondition: 'false',
    });
    await root.run('delete_policy', { policyId: made['dropped'] });
    made['wallet'] = (await newWallet(root)).walletId;
    await root
      .run('create_webhook_endpoint', {
        url: 'https://hooks.example/',
        name: 'New',
        subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }],
      })
      .catch(() => {});
    made['sub'] = (await createSubOrganization(root, 'Later')).organizationId;
    await root.run('update_root_quorum', { threshold: 1, userIds: [root.userId, made['carol']] });
    activities = (await root.query('list_activities', { paginationOptions: { limit: '100' } })).body.activities;
    await lost.kill();
  });
  afterAll(async () => {
    await restored?.[Symbol.asyncDispose]();
    await lost?.[Symbol.asyncDispose]();
  });

  async function keysOf(userId: string): Promise<string[]> {
    const { body } = await root.query('get_api_keys', { userId });
    return body.apiKeys.map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId);
  }

  const newer = (): string => lost.databaseUrl ?? join(lost.dataDir, 'custos.db');
  const differencesIn = (findings: readonly ReviewFinding[]): Difference[] =>
    findings.flatMap((finding) => (finding.kind === 'difference' ? [finding.difference] : []));
  const brief = ({ change, what, name, activity }: Difference) =>
    [change, what, name.split(',')[0], activity?.type.replace('ACTIVITY_TYPE_', '')] as const;
  const typeOf = (operation: string): unknown => expect.stringContaining(operation);

  const EXPECTED = () =>
    expect.arrayContaining([
      ['removed', 'API key', 'Carol key', typeOf('DELETE_API_KEYS')],
      ['removed', 'user', 'Gone', typeOf('DELETE_USERS')],
      ['removed', 'API key', 'Gone key', typeOf('DELETE_USERS')],
      ['added', 'user', 'Mallory', typeOf('CREATE_USERS')],
      ['added', 'API key', 'Mallory key', typeOf('CREATE_USERS')],
      ['changed', 'policy', 'Raised', typeOf('UPDATE_POLICY')],
      ['removed', 'policy', 'Dropped', typeOf('DELETE_POLICY')],
      ['added', 'wallet', expect.any(String), typeOf('CREATE_WALLET')],
      ['added', 'wallet account', expect.any(String), typeOf('CREATE_WALLET')],
      ['changed', 'organization', 'My organization', typeOf('UPDATE_ROOT_QUORUM')],
      ['added', 'organization', 'Later', expect.anything()],
    ]);

  test('tells each difference, what it is and which activity made it', async () => {
    const { findings, differences } = await restored.review({ against: newer() });
    const found = differencesIn(findings);
    expect(differences).toBe(found.length);
    expect(found.map(brief)).toEqual(EXPECTED());
    expect(found.filter(({ id }) => id === made['kept'])).toEqual([]);
    const raised = found.find(({ id }) => id === made['raised']);
    expect(raised?.values).toEqual([
      { what: 'effect', here: 'EFFECT_DENY', there: 'EFFECT_ALLOW' },
      { what: 'condition', here: 'true', there: 'false' },
    ]);
    const quorum = found.find(({ what, change }) => what === 'organization' && change === 'changed');
    expect(quorum?.values.map(({ what }) => what)).toEqual(['members of the root quorum']);
    // By organization, the newest first.
    const own = found
      .filter(({ organizationId }) => organizationId === root.organizationId)
      .map(({ atMs }) => atMs ?? 0);
    expect(own).toEqual([...own].sort((one, other) => other - one));
    // The services of both had the same keys.
    expect(new Set(found.map(({ isGenuine }) => isGenuine))).toEqual(new Set([true]));
    expect(findings.filter(({ kind }) => kind === 'unknowable')).toEqual([]);
  });

  test('of one organization alone where one is named', async () => {
    const { findings } = await restored.review({ against: newer(), organizationId: made['sub'] as string });
    const found = differencesIn(findings);
    expect(new Set(found.map(({ organizationId }) => organizationId))).toEqual(new Set([made['sub']]));
    expect(found.map(({ what }) => what)).toEqual(expect.arrayContaining(['organization', 'user', 'API key']));
    const upper = await restored.review({ against: newer(), organizationId: made['sub']?.toUpperCase() });
    expect(differencesIn(upper.findings)).toEqual(found);
  });

  test('of its sub-organizations too, for which a restore is accepted with it', async () => {
    const { organizationId } = root;
    const { findings } = await restored.review({ against: newer(), organizationId });
    const found = differencesIn(findings);
    expect(new Set(found.map((difference) => difference.organizationId))).toEqual(
      new Set([organizationId, made['sub']]),
    );
    const inSub = found.filter((difference) => difference.organizationId === made['sub']);
    expect(inSub.map(({ what }) => what)).toEqual(expect.arrayContaining(['organization', 'user', 'API key']));
  });

  test('says of a row that no service wrote it', async () => {
    const statement = `UPDATE policy SET condition = 'forged' WHERE id = '${made['kept']}'`;
    const run = async (sql: string): Promise<void> => {
      if (lost.databaseUrl === undefined) {
        using file = new SqliteFile(join(lost.dataDir, 'custos.db'));
        file.exec(sql);
      } else await onPostgres(lost.databaseUrl, (client) => client.query(sql));
    };
    await run(statement);
    try {
      const { findings } = await restored.review({ against: newer() });
      const [forged] = differencesIn(findings).filter(({ id }) => id === made['kept']);
      expect(forged).toMatchObject({ change: 'changed', isGenuine: false });
    } finally {
      await run(statement.replace("'forged'", "'true'"));
    }
  });

  test('finds the same in a backup, and needs its identity', async () => {
    const identity = await generateX25519Identity();
    const file = join(restored.dataDir, 'newer.backup');
    const identityFile = join(restored.dataDir, 'backup.key');
    writeFileSync(identityFile, `# a comment\n${identity}\n`);
    await writeBackup(file, await identityToRecipient(identity));
    const { findings } = await restored.review({ against: file, identities: [identityFile] });
    const found = differencesIn(findings);
    expect(found.map(brief)).toEqual(EXPECTED());
    expect(new Set(found.map(({ isGenuine }) => isGenuine))).toEqual(new Set([true]));
    await expect(restored.review({ against: file })).rejects.toThrow(/--identity FILE/);
    writeFileSync(identityFile, `${await generateX25519Identity()}\n`);
    await expect(restored.review({ against: file, identities: [identityFile] })).rejects.toThrow(
      /does not open this backup/,
    );
  });

  /** In no particular order. */
  async function writeBackup(file: string, recipient: string): Promise<void> {
    const opened =
      lost.databaseUrl === undefined
        ? openSqliteFile(join(lost.dataDir, 'custos.db'))
        : await openPostgresUrl(lost.databaseUrl);
    const tables = [...new Set(opened.columns.map(({ table }) => table))].filter((name) => !name.startsWith('sqlite_'));
    async function* parts(): AsyncGenerator<WrittenPart> {
      const header = { format: 1, id: 'newer', version: '0', madeAtMs: 0, databaseKind: database, migrations: [] };
      yield { part: 'header', header };
      for (const name of tables) {
        const columns = opened.columns.filter(({ table }) => table === name).map(({ column }) => column);
        yield { part: 'table', name, columns };
        const rows = (await opened.query(`SELECT * FROM "${name}"`, [])).map((row) =>
          columns.map((column) => row[column]),
        );
        if (rows.length > 0) yield { part: 'rows', rows: rows.reverse() as unknown as ArchiveRow[] };
      }
      const facts = { snapshotAtMs: Date.now(), position: '', rootKeyIds: [], integrityKeyIds: [], organizations: 1 };
      yield { part: 'end', facts };
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of writeArchive(parts(), [recipient])) chunks.push(chunk);
    await opened.close();
    writeFileSync(file, Buffer.concat(chunks));
  }

  test.each(['lines', 'a page'])('lists what a record of activities has, as %s', async (form) => {
    const file = join(restored.dataDir, 'activities.jsonl');
    const text =
      form === 'lines' ? activities.map((one) => JSON.stringify(one)).join('\n') : JSON.stringify({ activities });
    writeFileSync(file, text);
    const { findings } = await restored.review({ against: file });
    const found = differencesIn(findings).map(({ name }) => name);
    expect(found).toEqual(
      expect.arrayContaining([
        expect.stringContaining('DELETE_API_KEYS'),
        expect.stringContaining('UPDATE_POLICY'),
        expect.stringContaining('UPDATE_ROOT_QUORUM'),
        expect.stringContaining('CREATE_WALLET'),
      ]),
    );
    // What the backup has is not told.
    expect(found.filter((name) => name.startsWith('CREATE_POLICY'))).toEqual([]);
    expect(findings).toContainEqual({ kind: 'unknowable', text: expect.stringContaining('proves nothing by itself') });
  });

  test('without anything newer lists what nobody can know, and all credentials and rules', async () => {
    const { findings, differences } = await restored.review();
    expect(differences).toBeUndefined();
    const texts = findings.flatMap((finding) => (finding.kind === 'unknowable' ? [finding.text] : []));
    expect(texts.join('\n')).toMatch(/between \d{4}-.*: credentials that were removed and work here again/);
    const entries = findings.flatMap((finding) => (finding.kind === 'entry' ? [finding.entry] : []));
    expect(entries.map(({ what, name }) => [what, name.split(',')[0]])).toEqual(
      expect.arrayContaining([
        ['organization', 'My organization'],
        ['user', 'Carol'],
        ['API key', 'Carol key'],
        ['policy', 'Dropped'],
      ]),
    );
    expect(entries.every(({ isGenuine }) => isGenuine === true)).toBe(true);
  });

  test('refuses what is neither', async () => {
    const file = join(restored.dataDir, 'nonsense');
    writeFileSync(file, 'nonsense');
    await expect(restored.review({ against: file })).rejects.toThrow(/is neither an SQLite database, nor a backup/);
    await expect(restored.review({ against: join(restored.dataDir, 'missing') })).rejects.toThrow(
      /cannot read .*missing/,
    );
    writeFileSync(file, '{"activities": [');
    await expect(restored.review({ against: file })).rejects.toThrow(/line 1, is no JSON/);
    // The feed does not say whose an activity is.
    const { id: activityId, type, status } = activities[0] as Record<string, string>;
    const event = { kind: 'ACTIVITY', activityId, type, status, updatedAt: new Date().toISOString() };
    writeFileSync(file, `{"kind":"GAP"}\n${JSON.stringify(event)}\n`);
    await expect(restored.review({ against: file })).rejects.toThrow(/line 2, .*without its organization/);
  });

  test('needs a database that was restored', async () => {
    await using other = await RestoredPlace.copyOf(lost);
    await expect(other.review()).rejects.toThrow(/was never restored from a backup/);
  });
});

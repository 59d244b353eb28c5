import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { encryptTo, newSecretTargets, Receiver, readSigned } from '../harness/bundles.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { aName, approve, COMPLETED, FAILED, needTwo, outcome, PENDING } from './fixtures/wallets.ts';

// The operations on secrets. That secrets of requests do not rest in the clear is the topic of secrets.test.ts.

const SUITE = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';

describe.each(databasesOf(import.meta.url))('secrets on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    root = await createSubOrganization(parent, 'Secrets');
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const toImport = (targetPublicKey: string, secret: string | Uint8Array, extra = {}) => ({
    name: aName('secret'),
    secretPayload: encryptTo(targetPublicKey, secret),
    targetPublicKey,
    encryptionSuite: SUITE,
    ...extra,
  });
  const imported = async (client: TestClient, ...secrets: readonly (string | Uint8Array)[]): Promise<string[]> => {
    const targets = await newSecretTargets(client, secrets.length);
    const items = secrets.map((secret, index) => toImport(targets[index] as string, secret));
    return (await client.run('import_secrets', { secrets: items })).secretIds;
  };
  const toExport = (secretId: string, receiver: Receiver) => ({
    secretId,
    targetPublicKey: receiver.publicKey,
    encryptionSuite: SUITE,
  });
  const names = async (client: TestClient): Promise<string[]> =>
    (await client.query('list_secrets')).body.secrets.map((secret: { name: string }) => secret.name);

  test('come back as they went in, each to its own receiver', async () => {
    const secrets = ['a pass word', '', randomBytes(32), randomBytes(60_000), 'é\u3000\u0000'];
    const secretIds = await imported(root, ...secrets);
    expect(new Set(secretIds).size).toBe(secrets.length);
    const receivers = secrets.map(() => new Receiver());
    const { secretPayloads } = await root.run('export_secrets', {
      secrets: secretIds.map((id, index) => toExport(id, receivers[index] as Receiver)),
    });
    expect(secretPayloads).toHaveLength(secrets.length);
    for (const [index, secret] of secrets.entries()) {
      const opened = receivers[index]?.open(secretPayloads[index], root.organizationId);
      expect(opened).toEqual(Buffer.from(secret as string));
      expect(() => receivers[(index + 1) % secrets.length]?.open(secretPayloads[index], root.organizationId)).toThrow();
    }
    // An export leaves them where they are.
    expect(outcome(await root.submit('export_secrets', { secrets: [toExport(secretIds[0]!, receivers[0]!)] }))).toEqual(
      [200, COMPLETED],
    );
  });

  test('the targets are signed for the organization', async () => {
    const { enclaveTargetMessages } = await root.run('init_import_secrets', { encryptionSuite: SUITE, numSecrets: 3 });
    expect(enclaveTargetMessages).toHaveLength(3);
    const documents = enclaveTargetMessages.map(readSigned);
    for (const document of documents) {
      expect(document).toEqual({
        targetPublic: expect.stringMatching(/^04[0-9a-f]{128}$/),
        organizationId: root.organizationId,
      });
    }
    expect(new Set(documents.map(({ targetPublic }: { targetPublic: string }) => targetPublic)).size).toBe(3);
    for (const [encryptionSuite, numSecrets] of [
      [SUITE, 0],
      [SUITE, 33],
      [SUITE, '3'],
      ['TRANSPORT_ENCRYPTION_SUITE_NONE', 1],
    ]) {
      const answer = await root.submit('init_import_secrets', { encryptionSuite, numSecrets });
      expect(outcome(answer), `${encryptionSuite} ${numSecrets}`).toEqual([400, 'REQUEST_INVALID']);
    }
  });

  test('are listed newest first, without what they hide', async () => {
    const client = await createSubOrganization(parent, 'Listed');
    const [target = '', other = ''] = await newSecretTargets(client, 2);
    const staticProperties = [
      { key: 'environment', value: 'production' },
      { key: 'empty', value: '' },
    ];
    const first = toImport(target, 'hidden', { name: 'first', staticProperties });
    const { name: _name, ...nameless } = toImport(other, 'hidden too');
    const [firstId] = (await client.run('import_secrets', { secrets: [first] })).secretIds;
    const [secondId] = (await client.run('import_secrets', { secrets: [nameless] })).secretIds;
    const createdAtUnixMs = expect.stringMatching(/^\d{13}$/);
    const { secrets, pageInfo } = (await client.query('list_secrets')).body;
    expect(secrets).toEqual([
      { secretId: secondId, staticProperties: [], createdAtUnixMs },
      { secretId: firstId, name: 'first', staticProperties, createdAtUnixMs },
    ]);
    expect(pageInfo).toMatchObject({ startCursor: secondId, endCursor: firstId });
    const page = await client.query('list_secrets', { paginationOptions: { limit: '1', after: secondId } });
    expect(page.body.secrets).toEqual([secrets[1]]);
    await client.run('delete_secrets', { secretIds: [secondId] });
    expect((await client.query('list_secrets', { paginationOptions: { after: secondId } })).body.secrets).toEqual([
      secrets[1],
    ]);
  });

  test('32 at once, the most that one request carries', async () => {
    const secrets = Array.from({ length: 32 }, (_, index) => `secret ${index}`);
    const ids = await imported(root, ...secrets);
    const receiver = new Receiver();
    const items = ids.map((id) => toExport(id, receiver));
    const { secretPayloads } = await root.run('export_secrets', { secrets: items });
    const opened = secretPayloads.map((payload: string) => receiver.open(payload, root.organizationId).toString());
    expect(opened).toEqual(secrets);
    const more = { secrets: [...items, toExport(ids[0] as string, receiver)] };
    expect(outcome(await root.submit('export_secrets', more))).toEqual([400, 'REQUEST_INVALID']);
  });

  test('an import is all or nothing', async () => {
    const client = await createSubOrganization(parent, 'All');
    const targets = await newSecretTargets(client, 4);
    const [a = '', b = '', c = '', d = ''] = targets;
    const good = toImport(a, 'good', { name: 'good' });
    const other = new Receiver().publicKey;
    const attempt = async (...secrets: unknown[]) => outcome(await client.submit('import_secrets', { secrets }));
    expect(await attempt(good, toImport(b, 'x', { name: 'good' }))).toEqual([400, 'REQUEST_INVALID']);
    expect(await attempt(good, { ...toImport(b, 'x'), targetPublicKey: a.toUpperCase() })).toEqual([
      400,
      'REQUEST_INVALID',
    ]);
    expect(await attempt(good, toImport(other, 'x'))).toEqual([400, 'FAILED_PRECONDITION']);
    expect(await attempt(good, { ...toImport(b, 'x'), targetPublicKey: c })).toEqual([400, 'INVALID_BUNDLE']);
    expect(await attempt(good, { ...toImport(b, 'x'), secretPayload: '{}' })).toEqual([400, 'INVALID_BUNDLE']);
    expect(await names(client)).toEqual([]);
    expect(await attempt(good, toImport(b, 'x', { name: 'fine' }))).toEqual([200, COMPLETED]);
    expect((await names(client)).sort()).toEqual(['fine', 'good']);
    // A target works once, and a name is there once.
    expect(await attempt(toImport(a, 'again'))).toEqual([400, 'FAILED_PRECONDITION']);
    expect(await attempt(toImport(c, 'x', { name: 'new' }), toImport(d, 'x', { name: 'good' }))).toEqual([
      409,
      'ALREADY_EXISTS',
    ]);
    expect(await names(client)).toHaveLength(2);
    expect(await attempt(toImport(c, 'x', { name: 'new' }))).toEqual([200, COMPLETED]);
  });

  test('an export is all or nothing', async () => {
    const [id = ''] = await imported(root, 'mine');
    const stranger = await createSubOrganization(parent, 'Stranger');
    const [foreign = ''] = await imported(stranger, 'theirs');
    const receiver = new Receiver();
    for (const other of [foreign, randomUUID()]) {
      const secrets = [toExport(id, receiver), toExport(other, receiver)];
      expect(outcome(await root.submit('export_secrets', { secrets }))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
    const wrongTarget = { ...toExport(id, receiver), targetPublicKey: `04${'11'.repeat(64)}` };
    const refused = await root.submit('export_secrets', { secrets: [toExport(id, receiver), wrongTarget] });
    expect(refused.status).toBe(400);
    const plain = await createUser(root, 'plain');
    expect(outcome(await plain.submit('export_secrets', { secrets: [toExport(id, receiver)] }))).toEqual([
      403,
      'REQUEST_NOT_AUTHORIZED',
    ]);
  });

  test('deletion is all or nothing, and frees the name', async () => {
    const [target = ''] = await newSecretTargets(root);
    const item = toImport(target, 'deleted');
    const [id = ''] = (await root.run('import_secrets', { secrets: [item] })).secretIds;
    const stranger = await createSubOrganization(parent, 'Other');
    expect(outcome(await stranger.submit('delete_secrets', { secretIds: [id] }))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(outcome(await root.submit('delete_secrets', { secretIds: [id, randomUUID()] }))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
    ]);
    expect(await names(root)).toContain(item.name);
    expect(await root.run('delete_secrets', { secretIds: [id, id] })).toEqual({ secretIds: [id] });
    expect(await names(root)).not.toContain(item.name);
    const gone = await root.submit('export_secrets', { secrets: [toExport(id, new Receiver())] });
    expect(outcome(gone)).toEqual([404, 'RESOURCE_NOT_FOUND']);
    const [another = ''] = await newSecretTargets(root);
    const again = { secrets: [toImport(another, 'again', { name: item.name })] };
    expect(outcome(await root.submit('import_secrets', again))).toEqual([200, COMPLETED]);
  });

  test('with two who must agree, nothing leaves before the second vote', async () => {
    const first = await createSubOrganization(parent, 'Two');
    const [id = ''] = await imported(first, 'ours');
    const second = await needTwo(first);
    const receiver = new Receiver();
    const parameters = { secrets: [toExport(id, receiver)] };
    const [kept, late] = [
      await first.submit('export_secrets', parameters),
      await first.submit('export_secrets', parameters),
    ];
    expect(outcome(kept)).toEqual([200, PENDING]);
    expect(kept.body.activity.result).toEqual({});
    const done = (await approve(second, kept.body.activity.fingerprint)).body.activity;
    const [payload] = done.result.exportSecretsResult.secretPayloads;
    expect(receiver.open(payload, first.organizationId).toString()).toBe('ours');
    const deletion = await first.submit('delete_secrets', { secretIds: [id] });
    expect((await approve(second, deletion.body.activity.fingerprint)).body.activity.status).toBe(COMPLETED);
    const failed = (await approve(second, late.body.activity.fingerprint)).body.activity;
    expect(failed).toMatchObject({ status: FAILED, result: {} });
  });
});

test.each(databasesOf(import.meta.url))('targets of secrets end after an hour on %s', async (database) => {
  await using service = await openTestApp(database);
  const { root, app, advance } = service;
  const [target = ''] = await newSecretTargets(root);
  const secrets = [{ secretPayload: encryptTo(target, 'late'), targetPublicKey: target, encryptionSuite: SUITE }];
  advance(60 * 60 * 1000 + 1000);
  const answer = await root.submit('import_secrets', { secrets }, { timestampMs: String(app.clock()) });
  expect(outcome(answer)).toEqual([400, 'FAILED_PRECONDITION']);
});

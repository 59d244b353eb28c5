import { createHash } from 'node:crypto';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { AGE_IDENTITY, AGE_RECIPIENT, newPrivateKey } from '../fixtures/keys.ts';
import { openTestApp } from '../harness/app.ts';
import { type Answer, createSubOrganization, createUser, TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { ServedKeyring } from '../harness/served-keyring.ts';
import { TestServer } from '../harness/server.ts';
import {
  aName,
  approve,
  COMPLETED,
  ethereum,
  FAILED,
  importKey,
  importWallet,
  newWallet,
  outcome,
  PENDING,
  solana,
} from './fixtures/wallets.ts';

interface KitResult {
  readonly recoveryKitId: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly pieceCount: number;
  readonly walletIds: string[];
  readonly privateKeyIds: string[];
}

interface OpenedKit {
  readonly organization: { readonly id: string };
  readonly recipients: string[];
  readonly wallets: readonly {
    readonly id: string;
    readonly mnemonic: string;
    readonly passphrase?: string;
    readonly accounts: readonly Record<string, string>[];
  }[];
  readonly privateKeys: readonly { readonly id: string; readonly privateKey: string }[];
}

const CREATE = 'create_recovery_kit';
const RECIPIENTS = { recipients: [AGE_RECIPIENT] };
const ABANDON = `${'abandon '.repeat(11)}about`;

const resultOf = ({ body }: Answer): KitResult => body.activity.result.createRecoveryKitResult;
const makeKit = async (client: TestClient): Promise<KitResult> => await client.run(CREATE, RECIPIENTS);

/** The file, as somebody puts it together. */
async function fetchKit(client: TestClient, { recoveryKitId, pieceCount }: KitResult): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let piece = 0; piece < pieceCount; piece += 1) {
    const { body } = await client.query('get_recovery_kit', { recoveryKitId, piece });
    pieces.push(Buffer.from(body.piece.content, 'base64'));
  }
  return Buffer.concat(pieces);
}

async function openKit(file: Uint8Array, identity = AGE_IDENTITY): Promise<OpenedKit> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return JSON.parse(await decrypter.decrypt(file, 'text'));
}

const isExported = async (client: TestClient, walletId: string): Promise<boolean> =>
  (await client.query('get_wallet', { walletId })).body.wallet.exported;
const kitsOf = async (client: TestClient) => (await client.query('list_recovery_kits')).body.recoveryKits;

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('recovery kits on %s', (database) => {
  let server: TestServer;
  let parent: TestClient;

  beforeAll(async () => {
    server = await TestServer.start({ database });
    parent = TestClient.root(server.credentials, server.baseUrl);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Three root users of whom two are needed, and one without rights. */
  async function council() {
    const first = await createSubOrganization(parent, aName('council'));
    const [second, third, plain] = [
      await createUser(first, 'second'),
      await createUser(first, 'third'),
      await createUser(first, 'plain'),
    ];
    return {
      first,
      second,
      third,
      plain,
      needTwo: () =>
        first.run('update_root_quorum', { threshold: 2, userIds: [first, second, third].map(({ userId }) => userId) }),
    };
  }

  test('two of three root users make one; one alone does not, and it holds all that is theirs and nothing else', async () => {
    const { first, second, plain, needTwo } = await council();
    const { walletId, addresses } = await newWallet(first, [ethereum(), solana()]);
    const imported = await importWallet(first, `${ABANDON}\nwith a passphrase`);
    const key = await importKey(first, 'SECP256K1', '11'.repeat(32), ['ETHEREUM', 'BITCOIN_MAINNET_P2TR']);
    const { privateKeyId } = await newPrivateKey(first);
    await newWallet(parent);
    const gone = await newWallet(first);
    await first.run('delete_wallets', { walletIds: [gone.walletId], deleteWithoutExport: true });
    await needTwo();

    const other = await generateX25519Identity();
    const recipients = [AGE_RECIPIENT, await identityToRecipient(other)];
    const proposed = await first.submit(CREATE, { recipients });
    expect(outcome(proposed)).toEqual([200, PENDING]);
    const { id, fingerprint } = proposed.body.activity;
    expect((await approve(plain, fingerprint)).status).toBe(403);
    // The same user twice is still one.
    await approve(first, fingerprint);
    expect((await first.query('get_activity', { activityId: id })).body.activity).toMatchObject({
      status: PENDING,
      result: {},
    });
    expect([await kitsOf(first), await isExported(first, walletId)]).toEqual([[], false]);

    const approved = await approve(second, fingerprint);
    expect(outcome(approved)).toEqual([200, COMPLETED]);
    const result = resultOf(approved);
    expect(result.walletIds).toEqual([walletId, imported.walletId]);
    expect(result.privateKeyIds).toEqual([key.privateKeyId, privateKeyId]);
    const file = await fetchKit(second, result);
    expect([file.length, createHash('sha256').update(file).digest('hex')]).toEqual([result.sizeBytes, result.sha256]);
    const kit = await openKit(file);
    expect(await openKit(file, other)).toEqual(kit);
    await expect(openKit(file, await generateX25519Identity())).rejects.toThrow('no identity matched');
    expect(kit).toMatchObject({
      organization: { id: first.organizationId },
      recipients,
      wallets: [
        {
          id: walletId,
          mnemonic: expect.stringMatching(/^(\w+ ){11}\w+$/),
          accounts: addresses.map((address) => ({ address })),
        },
        { id: imported.walletId, mnemonic: ABANDON, passphrase: 'with a passphrase' },
      ],
      privateKeys: [{ id: key.privateKeyId, privateKey: '11'.repeat(32) }, { id: privateKeyId }],
    });
    expect(await kitsOf(first)).toMatchObject([{ recoveryKitId: result.recoveryKitId, activityId: id, recipients }]);
    // They count as exported from now on, so that they can be deleted.
    expect(await isExported(first, walletId)).toBe(true);
    const { privateKey } = (await first.query('get_private_key', { privateKeyId })).body;
    expect(privateKey.exported).toBe(true);
  });

  test('no policy allows one, whatever it says', async () => {
    const { first, plain, needTwo } = await council();
    await newWallet(first);
    const allow = (condition: string, consensus: string) =>
      first.run('create_policy', { policyName: aName('all'), effect: 'EFFECT_ALLOW', condition, consensus, notes: '' });
    await allow('', '');
    await allow('', `approvers.any(user, user.id == '${plain.userId}')`);
    await allow('true', '');
    await needTwo();
    const denied = await plain.submit(CREATE, RECIPIENTS);
    expect(outcome(denied)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    expect(JSON.stringify(denied.body.details)).toContain('Only the root quorum can take this action');
    expect(outcome(await first.submit(CREATE, RECIPIENTS))).toEqual([200, PENDING]);
    const conditioned = await first.submit('create_policy', {
      policyName: aName('kits'),
      effect: 'EFFECT_ALLOW',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_RECOVERY_KIT'",
      consensus: 'true',
      notes: '',
    });
    expect([200, 400]).toContain(conditioned.status);
    expect(outcome(await plain.submit(CREATE, RECIPIENTS))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    expect(await kitsOf(first)).toEqual([]);
  });

  test("a parent makes none of its child's keys, and its own has none of them", async () => {
    const child = await createSubOrganization(parent, aName('child'));
    const theirs = await newWallet(child);
    const own = await newWallet(parent);
    const { organizationId } = child;
    const refused = await parent.submit(CREATE, RECIPIENTS, { organizationId });
    expect(refused.body.errorCode).toBe('ORGANIZATION_MISMATCH');
    const result = await makeKit(parent);
    expect(result.walletIds).toContain(own.walletId);
    const kit = await openKit(await fetchKit(parent, result));
    expect(JSON.stringify(kit)).not.toContain(theirs.walletId);
    expect(JSON.stringify(kit)).not.toContain(theirs.addresses[0]);
    expect(await isExported(child, theirs.walletId)).toBe(false);
    expect((await makeKit(child)).walletIds).toEqual([theirs.walletId]);
  });

  test('only the root quorum fetches the file: no other user, no user of the parent, no read session', async () => {
    const child = await createSubOrganization(parent, aName('child'));
    await newWallet(child);
    const { recoveryKitId } = await makeKit(child);
    const wanted = { recoveryKitId, piece: 0 };
    expect((await child.query('get_recovery_kit', wanted)).status).toBe(200);
    const plain = await createUser(child, 'plain');
    const { organizationId } = child;
    const refused = [403, 'REQUEST_NOT_AUTHORIZED'];
    expect(outcome(await plain.query('get_recovery_kit', wanted))).toEqual(refused);
    expect(outcome(await parent.query('get_recovery_kit', { ...wanted, organizationId }))).toEqual(refused);
    // What is no secret they may all see.
    for (const reader of [plain, parent]) {
      const { body } = await reader.query('get_recovery_kit', { recoveryKitId, organizationId });
      expect(body.recoveryKit).toMatchObject({ recoveryKitId, walletCount: 1 });
    }
    const { session } = await child.run('create_read_only_session', {});
    const read = (parameters: object) =>
      fetch(`${server.baseUrl}/public/v1/query/get_recovery_kit`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'X-Session': session },
        body: JSON.stringify({ organizationId, ...parameters }),
      });
    expect((await read({ recoveryKitId })).status).toBe(200);
    expect((await read(wanted)).status).toBe(403);
  });

  test('approvers read every recipient in full', async () => {
    const { first, second, needTwo } = await council();
    await newWallet(first);
    await needTwo();
    const recipients = await Promise.all(
      Array.from({ length: 16 }, async () => await identityToRecipient(await generateX25519Identity())),
    );
    const { id } = (await first.submit(CREATE, { recipients })).body.activity;
    const { description } = (await second.query('describe_activity', { activityId: id })).body;
    expect(description).toMatchObject({ kind: 'Create a recovery kit', risk: 'DANGER' });
    expect(description.text).toContain('Hand out all wallets and private keys of this organization');
    for (const recipient of recipients) expect(description.text).toContain(recipient);
    expect(description.fields.map(({ value }: { value: { text: string }[] }) => value[0]?.text)).toEqual(recipients);
    expect(description.consequence).toContain('I have compared each recipient');
    const waiting = (await second.query('list_approvals')).body.approvals;
    for (const recipient of recipients) expect(waiting[0].description.text).toContain(recipient);
  });

  test('recipients that are none are refused for what they are, and nothing of it is kept', async () => {
    const child = await createSubOrganization(parent, aName('child'));
    await newWallet(child);
    const before = (await child.query('list_activities')).body.activities.length;
    const refusal = async (recipients: unknown): Promise<string> => {
      const answer = await child.submit(CREATE, { recipients });
      expect(outcome(answer)).toEqual([400, 'REQUEST_INVALID']);
      return answer.body.message;
    };
    expect(await refusal([])).toContain('parameters.recipients');
    expect(await refusal(Array.from({ length: 17 }, () => AGE_RECIPIENT))).toContain('parameters.recipients');
    expect(await refusal([AGE_RECIPIENT, AGE_RECIPIENT])).toContain(`names ${AGE_RECIPIENT} twice`);
    expect(await refusal([AGE_RECIPIENT, AGE_RECIPIENT.slice(0, -1)])).toMatch(
      /^parameters\.recipients\.1: is no age recipient: it has a mistake in it/,
    );
    expect(await refusal(['age1pq1xyz'])).toContain('only the newest versions of age know');
    for (const secret of [AGE_IDENTITY, AGE_IDENTITY.toLowerCase(), `  ${AGE_IDENTITY}\n`]) {
      const message = await refusal([secret]);
      expect(message).toContain('is an identity, which opens kits and must stay secret');
      expect(message.toLowerCase()).not.toContain(AGE_IDENTITY.toLowerCase());
    }
    expect((await child.query('list_activities')).body.activities).toHaveLength(before);
    expect(server.output.stderr).not.toContain(AGE_IDENTITY);
  });

  test('the same bytes again are the same kit', async () => {
    const child = await createSubOrganization(parent, aName('child'));
    await newWallet(child);
    const body = child.submitBody(CREATE, RECIPIENTS);
    const send = () => child.sendStamped(`/public/v1/submit/${CREATE}`, body);
    const [first, ...others] = await Promise.all([send(), send(), send()]);
    await newWallet(child);
    for (const again of [...others, await send()]) expect(again.body.activity).toEqual(first?.body.activity);
    expect(await kitsOf(child)).toHaveLength(1);
  });

  test('an organization without keys is told so before anybody is asked to approve', async () => {
    const { first, needTwo } = await council();
    await needTwo();
    const refused = await first.submit(CREATE, RECIPIENTS);
    expect(outcome(refused)).toEqual([400, 'FAILED_PRECONDITION']);
    expect(refused.body.message).toContain('no wallets and no private keys of its own');
  });

  test('keys that were deleted before the last approval make it fail, and others are not in it', async () => {
    const { first, second, needTwo } = await council();
    const { walletId } = await newWallet(first);
    await first.run('delete_wallets', { walletIds: [(await newWallet(first)).walletId], deleteWithoutExport: true });
    await needTwo();
    const { fingerprint } = (await first.submit(CREATE, RECIPIENTS)).body.activity;
    const deletion = await first.submit('delete_wallets', { walletIds: [walletId], deleteWithoutExport: true });
    await approve(second, deletion.body.activity.fingerprint);
    const failed = await approve(second, fingerprint);
    expect(outcome(failed)).toEqual([200, FAILED]);
    expect(failed.body.activity.failure.message).toContain('no wallets and no private keys');
  });

  test('wallets that are made at the same time are whole in it, or not at all, and marked as they are', async () => {
    const child = await createSubOrganization(parent, aName('child'));
    const before = (await newWallet(child, [ethereum(), solana()])).walletId;
    const making = Array.from({ length: 20 }, () => newWallet(child, [ethereum(), solana()]));
    const kits = await Promise.all(Array.from({ length: 3 }, () => makeKit(child)));
    const after = (await Promise.all(making)).map(({ walletId }) => walletId);
    const exported = new Set(kits.flatMap(({ walletIds }) => walletIds));
    for (const kit of kits) {
      expect(kit.walletIds).toContain(before);
      const { wallets } = await openKit(await fetchKit(child, kit));
      expect(wallets.map(({ id }) => id)).toEqual(kit.walletIds);
      for (const { accounts } of wallets) expect(accounts).toHaveLength(2);
    }
    for (const walletId of [before, ...after]) {
      expect([walletId, await isExported(child, walletId)]).toEqual([walletId, exported.has(walletId)]);
    }
    expect([...exported].every((walletId) => [before, ...after].includes(walletId))).toBe(true);
  });

  test('the newest five are kept, in pieces of half a megabyte, and can be deleted', async () => {
    const child = await createSubOrganization(parent, aName('child'));
    // Names make it long.
    const accounts = Array.from({ length: 700 }, (_, index) =>
      ethereum(index, { name: `${index} ${'n'.repeat(240)}` }),
    );
    await newWallet(child, accounts);
    await newWallet(
      child,
      accounts.map((account) => ({ ...account, name: `other ${account.name}`.slice(0, 255) })),
    );
    const first = await makeKit(child);
    expect(first.pieceCount).toBe(2);
    const { wallets } = await openKit(await fetchKit(child, first));
    expect(wallets.map((wallet) => wallet.accounts.length)).toEqual([700, 700]);
    const { recoveryKitId } = first;
    const beyond = await child.query('get_recovery_kit', { recoveryKitId, piece: 2 });
    expect([beyond.status, beyond.body.message]).toEqual([400, 'piece: must be below 2, the number of pieces']);
    const about = await child.query('get_recovery_kit', { recoveryKitId });
    expect(about.body).not.toHaveProperty('piece');
    const later: string[] = [];
    for (let count = 0; count < 5; count += 1) later.unshift((await makeKit(child)).recoveryKitId);
    expect((await kitsOf(child)).map((kit: KitResult) => kit.recoveryKitId)).toEqual(later);
    expect((await child.query('get_recovery_kit', { recoveryKitId, piece: 0 })).status).toBe(404);
    await child.run('delete_recovery_kits', { recoveryKitIds: later });
    expect(await kitsOf(child)).toEqual([]);
    for (const id of later) {
      expect((await child.query('get_recovery_kit', { recoveryKitId: id, piece: 0 })).status).toBe(404);
    }
  });

  test('is exported once for each request, also when the decision has to be taken again', async () => {
    await using service = await openTestApp(database);
    const { root, app } = service;
    const { walletId } = await newWallet(root);
    const exporting = app.keyring.exportRecoveryKit.bind(app.keyring);
    const exported = vi.spyOn(app.keyring, 'exportRecoveryKit');
    let during = { walletId: '' };
    // A wallet that comes and one that goes while the kit is made, and a rule that has it decided anew.
    const doomed = await newWallet(root);
    exported.mockImplementationOnce(async (...args) => {
      const kit = await exporting(...args);
      during = await newWallet(root);
      await root.run('delete_wallets', { walletIds: [doomed.walletId], deleteWithoutExport: true });
      return kit;
    });
    const result = await makeKit(root);
    expect(exported.mock.calls).toHaveLength(1);
    expect(result.walletIds).toEqual([walletId, doomed.walletId]);
    expect([await isExported(root, walletId), await isExported(root, during.walletId)]).toEqual([true, false]);
    // Whoever makes another has what came since.
    expect((await makeKit(root)).walletIds).toEqual([walletId, during.walletId]);
  });

  test('counts as one export, and an approval that meets a ceiling leaves the activity open', async () => {
    const env = { CUSTOS_ORGANIZATION_EXPORTS_PER_MINUTE: '60', CUSTOS_EXPORTS_PER_MINUTE: '3' };
    await using limited = await TestServer.start({ database, env });
    const root = TestClient.root(limited.credentials, limited.baseUrl);
    await newWallet(root);
    await newWallet(root);
    for (let count = 0; count < 2; count += 1) await makeKit(root);
    const second = await createUser(root, 'second');
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    const { id, fingerprint } = (await root.submit(CREATE, RECIPIENTS)).body.activity;
    const refused = await approve(second, fingerprint);
    expect([refused.status, refused.body.message]).toEqual([
      429,
      'the keyring makes 2 recovery kits a minute of one organization',
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const { activity } = (await root.query('get_activity', { activityId: id })).body;
    expect([activity.status, activity.votes.length]).toEqual([PENDING, 1]);
    // Of three exports in all, two were kits.
    const child = await createSubOrganizationOf(root, second);
    await newWallet(child);
    await makeKit(child);
    const more = await child.submit(CREATE, RECIPIENTS);
    expect([more.status, more.body.message]).toEqual([429, 'the keyring makes 3 exports a minute in all']);
    const logged = limited.output.stderr
      .split('\n')
      .filter((line) => line.includes('"msg":"export"'))
      .map((line) => JSON.parse(line));
    expect(logged).toMatchObject([
      {
        what: 'exportRecoveryKit',
        organizationId: root.organizationId,
        wallets: 2,
        privateKeys: 0,
        recipients: AGE_RECIPIENT,
      },
      { organizationId: root.organizationId },
      { organizationId: child.organizationId, wallets: 1 },
    ]);
  });
});

/** Where the parent needs two. */
async function createSubOrganizationOf(root: TestClient, second: TestClient): Promise<TestClient> {
  const back = await root.submit('update_root_quorum', { threshold: 1, userIds: [root.userId] });
  await approve(second, back.body.activity.fingerprint);
  return await createSubOrganization(root, aName('child'));
}

test('a keyring on a socket makes them too, and logs them itself', async () => {
  await using keyring = await ServedKeyring.start();
  await using server = await TestServer.start({ env: keyring.serviceSettings });
  const root = TestClient.root(server.credentials, server.baseUrl);
  const { walletId } = await newWallet(root);
  const result = await makeKit(root);
  const kit = await openKit(await fetchKit(root, result));
  expect(kit.wallets).toMatchObject([{ id: walletId }]);
  const [line = ''] = keyring.output.split('\n').filter((each) => each.includes('"what":"exportRecoveryKit"'));
  expect(JSON.parse(line)).toMatchObject({ msg: 'export', organizationId: root.organizationId, wallets: 1 });
  expect(server.output.stderr).not.toContain('exportRecoveryKit');
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SendStore } from '../../src/domains/sends/store/sends.ts';
import { randomId } from '../../src/lib/ids.ts';
import { SEARCHED_MAX } from '../../src/storage/text-match.ts';
import { newPrivateKey, newWallet } from '../fixtures/keys.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { builderOf } from '../storage/place.ts';
import { outcome } from './fixtures/wallets.ts';

const CHAIN = 'eip155:31337';
const HASH = `0x${'ab12'.repeat(16)}`;

interface Match {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly detail?: string;
  readonly parentId?: string;
}

describe.each(DATABASES)('search on %s', (database) => {
  let service: TestApp;
  let root: TestClient;
  let stranger: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database, {
      CUSTOS_CHAINS: JSON.stringify({ [CHAIN]: { rpcUrls: ['http://127.0.0.1:1'] } }),
    });
    root = await createSubOrganization(service.root, 'Searched');
    stranger = await createSubOrganization(service.root, 'Stranger');
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const search = async (text: string, client = root, extra: object = {}): Promise<Match[]> => {
    const { status, body } = await client.query('search', { text, ...extra });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.matches;
  };
  const kinds = (matches: readonly Match[]) => matches.map(({ kind, name }) => [kind, name]);

  test('finds names, those first that begin with the text', async () => {
    await createUser(root, 'Old Treasury clerk', { userEmail: 'clerk@search.example' });
    await newWallet(root, 'TREASURY main');
    await root.run('create_user_tag', { userTagName: 'Treasury', userIds: [] });
    const policy = { effect: 'EFFECT_ALLOW', condition: 'true', consensus: 'true', notes: '' };
    await root.run('create_policy', { policyName: 'For the treasury', ...policy });
    expect(kinds(await search('treasury'))).toEqual([
      ['WALLET', 'TREASURY main'],
      ['WALLET_ACCOUNT', 'TREASURY main account'],
      ['TAG', 'Treasury'],
      ['USER', 'Old Treasury clerk'],
      ['POLICY', 'For the treasury'],
    ]);
    expect(kinds(await search('CLERK@'))).toEqual([['USER', 'Old Treasury clerk']]);
    expect(await search('treasury', root, { limit: 1 })).toHaveLength(1);
    expect((await root.query('search', { text: 'treasury', limit: 1 })).body.isPartial).toBe(true);
    for (const text of ['%', '_', '\\', "'", 'no such thing']) expect(await search(text), text).toEqual([]);
    expect(await search('treasury', stranger)).toEqual([]);
  });

  test('finds letters beyond ASCII in the same cases on every database', async () => {
    await root.run('create_user_tag', { userTagName: 'École', userIds: [] });
    await root.run('create_user_tag', { userTagName: 'café ÉLÈVE', userIds: [] });
    await root.run('create_user_tag', { userTagName: 'Жук', userIds: [] });
    const found = async (text: string) => (await search(text)).map(({ name }) => name).sort();
    expect(await found('é')).toEqual(['café ÉLÈVE', 'École']);
    expect(await found('É')).toEqual(['café ÉLÈVE', 'École']);
    for (const text of ['école', 'ÉCOLE', 'École', 'ÉCole']) expect(await found(text), text).toEqual(['École']);
    for (const text of ['élève', 'ÉLÈVE', 'CAFÉ']) expect(await found(text), text).toEqual(['café ÉLÈVE']);
    for (const text of ['жук', 'ЖУК', 'Жу']) expect(await found(text), text).toEqual(['Жук']);
    // An accent is no decoration.
    expect(await found('eleve')).toEqual([]);
  });

  test('finds addresses in any case, whole or by their beginning', async () => {
    const wallet = await newWallet(root, 'With address');
    const { address, privateKeyId } = await newPrivateKey(root, 'A key with an address');
    const account = (await root.query('list_wallet_accounts', { walletId: wallet.walletId })).body.accounts[0];
    const match = {
      kind: 'WALLET_ACCOUNT',
      id: account.walletAccountId,
      name: account.name ?? wallet.address,
      detail: wallet.address,
      parentId: wallet.walletId,
    };
    for (const text of [
      wallet.address,
      wallet.address.toLowerCase(),
      wallet.address.slice(0, 10),
      ` ${wallet.address} `,
    ]) {
      expect(await search(text), text).toEqual([match]);
    }
    expect(await search(wallet.address.slice(0, 5))).toEqual([]);
    expect(await search(address)).toEqual([
      { kind: 'PRIVATE_KEY', id: privateKeyId, name: 'A key with an address', detail: address },
    ]);
    expect(await search(wallet.address, stranger)).toEqual([]);
  });

  test('finds ids and their beginnings, activities too', async () => {
    const { activity } = (await root.submit('create_user_tag', { userTagName: 'By id', userIds: [] })).body;
    const found = await search(activity.id.toUpperCase());
    expect(found).toEqual([
      {
        kind: 'ACTIVITY',
        id: activity.id,
        name: 'ACTIVITY_TYPE_CREATE_USER_TAG',
        detail: 'ACTIVITY_STATUS_COMPLETED',
      },
    ]);
    expect((await search(activity.id.slice(0, 30))).map(({ id }) => id)).toContain(activity.id);
    expect(await search(activity.id.slice(0, 5))).toEqual([]);
    expect(await search(activity.id, stranger)).toEqual([]);
  });

  test('finds sends by their hash', async () => {
    const send = {
      organizationId: root.organizationId as never,
      id: randomId<'send'>(),
      activityId: randomId<'activity'>(),
      caip2: CHAIN,
      sender: `0x${'cd'.repeat(20)}`,
      lane: `0x${'cd'.repeat(20)}`,
      purpose: 'send',
      request: { kind: 'ethereum', calls: [] },
      afterId: undefined,
      state: 'INCLUDED',
      nonce: 1,
      attempts: [],
      txHash: HASH,
      block: undefined,
      error: undefined,
      isOpen: false,
      createdAtMs: 1,
      updatedAtMs: 1,
    } as const;
    await service.app.storage.write((store) => store(SendStore).insert(send));
    const match = { kind: 'SEND', id: send.id, name: HASH, detail: 'INCLUDED', parentId: send.activityId };
    for (const text of [HASH, HASH.toUpperCase().replace('X', 'x'), HASH.slice(0, 12), send.id]) {
      expect(await search(text), text).toEqual([match]);
    }
    expect(await search(HASH.slice(0, 9))).toEqual([]);
    expect(await search(HASH, stranger)).toEqual([]);
    expect(await search(HASH, service.root)).toEqual([]);
  });

  test('refuses what is no text', async () => {
    for (const parameters of [
      {},
      { text: '' },
      { text: '  ' },
      { text: 'x'.repeat(201) },
      { text: 'a\nb' },
      { text: 'a', limit: 0 },
      { text: 'a', limit: 51 },
      { text: 'a', limit: '5x' },
    ]) {
      expect((await root.query('search', parameters)).status, JSON.stringify(parameters)).toBe(400);
    }
  });

  describe('of sub-organizations', () => {
    const find = async (text: string | undefined, client = service.root, paginationOptions?: object) =>
      (
        await client.query('search_sub_organizations', {
          ...(text !== undefined && { text }),
          ...(paginationOptions && { paginationOptions }),
        })
      ).body;
    const namesOf = (body: { subOrganizations: { name: string }[] }) => body.subOrganizations.map(({ name }) => name);

    test('finds them by name, contact, user name, address and id', async () => {
      const key = newKeyPair();
      const made = await service.root.run('create_sub_organization', {
        subOrganizationName: 'Ümlaut & Sons',
        rootQuorumThreshold: 1,
        rootUsers: [
          {
            userName: 'Margaret',
            userEmail: 'Margaret@Sons.example',
            userPhoneNumber: '+14155550199',
            apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
            authenticators: [],
            oauthProviders: [],
          },
        ],
      });
      const { subOrganizationId, rootUserIds } = made;
      const sons = service.root.as(key, rootUserIds[0]);
      const own = Object.assign(Object.create(Object.getPrototypeOf(sons)), sons, {
        organizationId: subOrganizationId,
      });
      const { address } = await newWallet(own, 'First');
      const expected = {
        organizationId: subOrganizationId,
        name: 'Ümlaut & Sons',
        createdAt: expect.any(String),
        userCount: 1,
        walletCount: 1,
      };
      for (const text of [
        'mlaut & S',
        '& sons',
        'margaret@sons',
        'Marg',
        '+1415555019',
        address.slice(0, 12),
        address.toLowerCase(),
        subOrganizationId,
        subOrganizationId.slice(0, 32),
      ]) {
        expect((await find(text)).subOrganizations, text).toContainEqual(expected);
      }
      expect(await search('& sons', service.root)).toEqual([
        { kind: 'SUB_ORGANIZATION', id: subOrganizationId, name: 'Ümlaut & Sons' },
      ]);
      expect((await search(address, service.root)).map(({ id }) => id)).toEqual([subOrganizationId]);
      // Nobody else's, and none below one that cannot have any.
      expect(namesOf(await find('sons', root))).toEqual([]);
      expect(namesOf(await find(undefined, root))).toEqual([]);
      expect(await search('& sons', root)).toEqual([]);
      await own.run('delete_sub_organization', { deleteWithoutExport: true });
      for (const text of ['& sons', subOrganizationId, address]) {
        expect((await find(text)).subOrganizations, text).not.toContainEqual(
          expect.objectContaining({ organizationId: subOrganizationId }),
        );
      }
    });

    test('pages all of them and those that it finds, newest first', async () => {
      for (const name of ['Paged one', 'Paged two', 'Paged three']) await createSubOrganization(service.root, name);
      expect(namesOf(await find('paged'))).toEqual(['Paged three', 'Paged two', 'Paged one']);
      for (const text of ['paged', undefined]) {
        const all = (await find(text)).subOrganizations;
        const first = await find(text, service.root, { limit: '2' });
        expect(first.subOrganizations).toEqual(all.slice(0, 2));
        expect(first.pageInfo.hasNextPage).toBe(true);
        const next = await find(text, service.root, { limit: '1', after: all[1].organizationId });
        expect(next.subOrganizations).toEqual(all.slice(2, 3));
        const lost = { text: text ?? 'paged', paginationOptions: { after: randomId() } };
        expect(outcome(await service.root.query('search_sub_organizations', lost))).toEqual([400, 'REQUEST_INVALID']);
      }
    });

    test('says where it did not look further', async () => {
      const nowMs = service.app.clock();
      for (let from = 0; from <= SEARCHED_MAX; from += 1000) {
        const rows = Array.from({ length: 1000 }, (_, index) =>
          service.app.storage.integrity.marked('organization', {
            id: `ffffffff-0000-7000-8000-${(from + index).toString(16).padStart(12, '0')}`,
            parent_id: service.root.organizationId,
            name: `Child ${from + index}`,
            root_threshold: 1,
            root_user_ids: '[]',
            authority_version: 1,
            rules_version: 1,
            rules_digest: null,
            wrapped_key: Buffer.of(1),
            created_at_ms: nowMs,
            updated_at_ms: nowMs,
          }),
        );
        await service.app.storage.write((store) => builderOf(store).insertInto('organization').values(rows).execute());
      }
      const newest = await find('child 10999', service.root, { limit: '5' });
      expect(newest).toMatchObject({ subOrganizations: [{ name: 'Child 10999' }], isPartial: true });
      // Beyond, a name is found by its beginning as it is written.
      expect(namesOf(await find('Paged t', service.root, { limit: '5' }))).toEqual(
        ['Paged two', 'Paged three'].reverse(),
      );
      expect(namesOf(await find('paged t', service.root, { limit: '5' }))).toEqual([]);
    });
  });
});

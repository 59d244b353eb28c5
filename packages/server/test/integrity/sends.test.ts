import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';

import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { LaneStore } from '../../src/domains/sends/store/lanes.ts';
import { SendListReader } from '../../src/domains/sends/store/send-list.ts';
import { SendReader } from '../../src/domains/sends/store/sends.ts';
import { SponsorshipStore } from '../../src/domains/sends/store/sponsorship.ts';
import { WebhookStore } from '../../src/domains/webhooks/store/webhooks.ts';
import { randomId, type SendId } from '../../src/lib/ids.ts';
import { CHAIN } from '../chain/fake-chain.ts';
import { DATABASES } from '../harness/databases.ts';
import { BATCH, ENDPOINT, FROM, OPERATOR, sendsOn, TO, until } from '../harness/sends.ts';
import { builderOf, codeOf, NOW, organization } from '../storage/place.ts';

// Somebody who can write to the database, and has no key of the service, changes sends and what they depend on. Nothing of
// it is signed or handed to a node; other lanes, and others in the same lane of the operator, go on.

const THIEF = `0x${'ee'.repeat(20)}`;
const SETTINGS = {
  batchContract: BATCH,
  operatorAddress: OPERATOR,
  prices: new Map([[`${CHAIN.caip2}/slip44:60`, '2000']]),
};
/** Of anybody, and no account has to be ready for it. */
const DEPLOYMENT = {
  lane: OPERATOR,
  sender: OPERATOR,
  purpose: 'earn-deploy',
  request: { kind: 'ethereum', calls: [{ to: TO, value: '1', data: '0x' }] },
} as const;
const PATIENCE_MS = 30_000;

const COLUMNS = [
  ...['organization_id', 'id', 'activity_id', 'caip2', 'sender', 'lane', 'purpose', 'request', 'after_id', 'state'],
  ...['nonce', 'attempts', 'tx_hash', 'block_number', 'block', 'error', 'is_open', 'created_at_ms', 'updated_at_ms'],
  'chain_send_mac',
];

describe.each(DATABASES)('sends that somebody else wrote, on %s', (kind) => {
  const world = sendsOn(kind);
  const { home, insert, reached, start } = world;

  beforeEach(() => {
    world.chain.codes.set(BATCH, '0x01');
  });

  const violations = () => world.storage.integrity.violations;
  /** So that its lane and the operator's have all had their turns. */
  const othersGoOn = async (): Promise<void> => {
    await reached(await insert(DEPLOYMENT), 'INCLUDED');
    await pause(10 * CHAIN.pollMs);
  };
  const sentBy = (address: string) => world.chain.landed(address).length;
  /** A row again, with other values in some columns; the mark is copied too. */
  const copy = (from: SendId, changes: Readonly<Record<string, string>>): Promise<void> => {
    const values = COLUMNS.map((column) => changes[column] ?? column);
    return world.run(`INSERT INTO chain_send (${COLUMNS}) SELECT ${values} FROM chain_send WHERE id = '${from}'`);
  };
  const toThief = `replace(request, '${TO}', '${THIEF}')`;

  test.each([
    ['request', toThief],
    ['request', `replace(request, '"value":"1"', '"value":"50000000000000000000"')`],
    ['sender', `'${OPERATOR}'`],
    ['lane', `'${OPERATOR}'`],
    ['purpose', "'earn-deploy'"],
    ['nonce', '7'],
    ['attempts', `'[{"hash":"0x01","raw":"0x02","signedAtMs":1}]'`],
    ['state', "'BROADCASTING'"],
    ['state', "'FAILED'"],
    ['created_at_ms', 'created_at_ms + 1000000'],
    ['after_id', "'018f0000-0000-7000-8000-000000000000'"],
    ['chain_send_mac', 'NULL'],
    ['chain_send_mac', "'1.AAAAAAAAAAAAAAAAAAAAAA'"],
  ])(
    '%s becomes %s: nothing is sent, and it goes out once it is as it was',
    async (column, value) => {
      const id = await insert();
      const [before] = await rowsOf(id);
      await world.run(`UPDATE chain_send SET ${column} = ${value} WHERE id = '${id}'`);
      start(SETTINGS);
      await othersGoOn();
      expect([sentBy(FROM), sentBy(OPERATOR)]).toEqual([0, 1]);
      expect(violations().map(({ table }) => table)).toContain('chain_send');
      expect(violations().map(({ row }) => row)).toContain(id);
      expect(await codeOf(world.read(id))).toBe('INTEGRITY_VIOLATION');
      expect(await codeOf(list())).toBe('INTEGRITY_VIOLATION');
      const known = before?.[column];
      await world.run(
        `UPDATE chain_send SET ${column} = ${known === null ? 'NULL' : `'${String(known).replaceAll("'", "''")}'`} WHERE id = '${id}'`,
      );
      // Its lane may have nothing else under way, and is looked at again with the next.
      await reached(await insert(), 'INCLUDED');
      await reached(id, 'INCLUDED');
      expect(sentBy(FROM)).toBe(2);
    },
    PATIENCE_MS,
  );

  const list = () =>
    world.storage
      .read(SendListReader)
      .page(
        home.id,
        { states: [], activityId: undefined, sender: undefined, caip2: undefined },
        { kind: 'all', max: 9 },
      );
  async function rowsOf(id: SendId): Promise<Record<string, unknown>[]> {
    return await world.storage.write((store) =>
      builderOf(store).selectFrom('chain_send').selectAll().where('id', '=', id).execute(),
    );
  }

  const cutOff = async (): Promise<void> => {
    const id = await insert();
    for (const same of ['id || char(0)', "id || char(0) || 'x'"]) await copy(id, { id: same });
    start(SETTINGS);
    await reached(id, 'INCLUDED');
    await othersGoOn();
    expect(sentBy(FROM)).toBe(1);
    await reached(await insert(), 'INCLUDED');
    expect(sentBy(FROM)).toBe(2);
  };
  /** Those that are not genuine are passed over there, so the rest is read in parts. */
  const cutOffBesideOthers = async (): Promise<void> => {
    const id = await insert(DEPLOYMENT);
    await copy(id, { id: 'id || char(0)' });
    await copy(id, { id: "'00000000-0000-7000-8000-000000000000'", request: toThief });
    start(SETTINGS);
    await reached(id, 'INCLUDED');
    await othersGoOn();
    expect(sentBy(OPERATOR)).toBe(2);
  };
  if (kind === 'sqlite') {
    test('a row whose id reads like that of another is not sent', cutOff, PATIENCE_MS);
    test('nor in a lane that organizations share', cutOffBesideOthers, PATIENCE_MS);
  }

  test.each([
    ['to a thief', { request: toThief }],
    ['the same once more', {}],
    ['of another organization', { organization_id: "'018f0000-0000-7000-8000-000000000001'" }],
  ])(
    'a row is inserted, %s',
    async (_what, changes) => {
      const id = await insert();
      start(SETTINGS);
      await reached(id, 'INCLUDED');
      expect(sentBy(FROM)).toBe(1);
      await copy(id, {
        id: `'${randomId()}'`,
        state: "'INITIALIZED'",
        nonce: 'NULL',
        attempts: "'[]'",
        tx_hash: 'NULL',
        block: 'NULL',
        block_number: 'NULL',
        ...changes,
      });
      await othersGoOn();
      expect([sentBy(FROM), sentBy(OPERATOR)]).toEqual([1, 1]);
      expect(violations()).toMatchObject([{ table: 'chain_send', because: 'mark' }]);
      // It goes on once the operator has taken it away.
      await world.run(`DELETE FROM chain_send WHERE id <> '${id}' AND lane = '${FROM}'`);
      await reached(await insert(), 'INCLUDED');
      expect(sentBy(FROM)).toBe(2);
    },
    PATIENCE_MS,
  );

  test(
    'a row is put back as it was before it was sent',
    async () => {
      const [own, shared] = [await insert(), await insert(DEPLOYMENT)];
      await world.run('CREATE TABLE kept AS SELECT * FROM chain_send');
      start(SETTINGS);
      await Promise.all([own, shared].map((id) => reached(id, 'INCLUDED')));
      await world.run('BEGIN; DELETE FROM chain_send; INSERT INTO chain_send SELECT * FROM kept; COMMIT');
      // A lane that was found without a send is closed, and nobody looks at it before there is another one in it.
      await insert();
      await until(() => new Set(violations().map(({ row }) => row)).size === 2);
      await othersGoOn();
      expect([sentBy(FROM), sentBy(OPERATOR)]).toEqual([1, 2]);
      expect(new Set(violations().map(({ row }) => row))).toEqual(new Set([own, shared]));
    },
    PATIENCE_MS,
  );

  test(
    'in the lane of the operator one that is forged keeps only itself, and its nonce is not taken',
    async () => {
      const other = organization({ parentId: home.id });
      await world.storage.write((store) => store(OrganizationStore).insert(other));
      world.chain.isMiningAtOnce = false;
      const first = await insert(DEPLOYMENT);
      start(SETTINGS);
      await reached(first, 'BROADCASTING');
      const forged = { id: `'${randomId()}'`, tx_hash: "'0x07'", organization_id: `'${other.id}'` };
      await copy(first, { ...forged, nonce: '1', attempts: "'[]'", state: "'BROADCASTING'" });
      await copy(first, { ...forged, id: `'${randomId()}'`, nonce: 'NULL', attempts: "'[]'", state: "'INITIALIZED'" });
      world.chain.isMiningAtOnce = true;
      const second = await insert({ ...DEPLOYMENT, organizationId: other.id });
      world.chain.mine();
      await until(() => sentBy(OPERATOR) === 2);
      expect(world.chain.landed(OPERATOR).map(({ nonce }) => nonce)).toEqual([0, 1]);
      await until(async () => (await world.storage.read(SendReader).get(other.id, second)).state === 'INCLUDED');
      await pause(10 * CHAIN.pollMs);
      expect(sentBy(OPERATOR)).toBe(2);
      expect(violations()).toHaveLength(2);
    },
    PATIENCE_MS,
  );

  describe('lanes', () => {
    test.each([
      ['epoch', 'epoch + 1'],
      ['version', 'version + 1'],
      ['owner', "'somebody'"],
      ['claimed_until_ms', 'claimed_until_ms + 1'],
      ['chain_lane_mac', 'NULL'],
    ])(
      '%s becomes %s: nobody works on it, nobody is told of it over and over, and it is not looked at all the time',
      async (column, value) => {
        const id = await insert();
        const claims = vi.spyOn(LaneStore.prototype, 'claimLane');
        await world.run(`CREATE TABLE kept_lane AS SELECT * FROM chain_lane WHERE lane = '${FROM}'`);
        await world.run(`UPDATE chain_lane SET ${column} = ${value} WHERE lane = '${FROM}'`);
        const dispatcher = start(SETTINGS);
        await othersGoOn();
        for (let poll = 0; poll < 5; poll += 1) {
          dispatcher.wake([]);
          await pause(50);
        }
        const tries = claims.mock.calls.filter(([, lane]) => lane === FROM).length;
        claims.mockRestore();
        expect(tries).toBeLessThan(5);
        expect([sentBy(FROM), sentBy(OPERATOR)]).toEqual([0, 1]);
        expect(violations()).toMatchObject([{ table: 'chain_lane', organizationId: undefined }]);
        expect(await codeOf(insert())).toBe('INTEGRITY_VIOLATION');
        await world.run(`DELETE FROM chain_lane WHERE lane = '${FROM}'`);
        await world.run('INSERT INTO chain_lane SELECT * FROM kept_lane');
        world.nowMs += 60_000;
        await reached(id, 'INCLUDED');
      },
      PATIENCE_MS,
    );

    test(
      'one that is changed while somebody works on it is worked on no more',
      async () => {
        start(SETTINGS);
        await reached(await insert(), 'INCLUDED');
        await world.run(`UPDATE chain_lane SET epoch = epoch - 1 WHERE lane = '${FROM}'`);
        expect(await codeOf(insert())).toBe('INTEGRITY_VIOLATION');
        await othersGoOn();
        expect([sentBy(FROM), sentBy(OPERATOR)]).toEqual([1, 1]);
      },
      PATIENCE_MS,
    );

    test(
      'one that is inserted brings nobody to send',
      async () => {
        await world.run(`INSERT INTO chain_lane (caip2, lane, is_active, version, owner, epoch, claimed_until_ms)
        VALUES ('${CHAIN.caip2}', '${THIEF}', 1, 1, '', 0, 0)`);
        start(SETTINGS);
        await othersGoOn();
        expect(violations()).toMatchObject([{ table: 'chain_lane', because: 'unmarked' }]);
      },
      PATIENCE_MS,
    );

    test(
      'a hundred of them keep no other from its turn',
      async () => {
        for (let index = 0; index < 100; index += 1) {
          await world.run(`INSERT INTO chain_lane (caip2, lane, is_active, version, owner, epoch, claimed_until_ms)
          VALUES ('${CHAIN.caip2}', '0x${index}', 1, 1, '', 0, 0)`);
        }
        await insert();
        await world.storage.write((store) => store(LaneStore).releaseAllLanes());
        start(SETTINGS);
        await until(() => sentBy(FROM) === 1);
      },
      PATIENCE_MS,
    );
  });

  describe('the limit of what is paid for', () => {
    const limit = (treeLimitUsd: string) =>
      world.storage.write((store) =>
        store(SponsorshipStore).putConfig({
          organizationId: home.id,
          id: randomId(),
          treeLimitUsd,
          subOrganizationLimitUsd: treeLimitUsd,
          windowMinutes: 60,
          isEnabled: true,
          createdAtMs: NOW,
          updatedAtMs: NOW,
        }),
      );

    test(
      'refuses what is above it',
      async () => {
        await limit('1000');
        start(SETTINGS);
        await reached(await insert(DEPLOYMENT), 'INCLUDED');
        await limit('0');
        const refused = await reached(await insert(DEPLOYMENT), 'FAILED');
        expect(refused.error?.message).toContain('orgWindowLimitUsd');
        expect(sentBy(OPERATOR)).toBe(1);
      },
      PATIENCE_MS,
    );

    test.each([
      "UPDATE gas_usage_config SET tree_limit_usd = '1000'",
      'UPDATE gas_usage_config SET is_enabled = 0',
      'UPDATE gas_usage_config SET window_minutes = 1',
      'UPDATE gas_usage_config SET gas_usage_config_mac = NULL',
      'DELETE FROM gas_usage_config',
    ])(
      '%s: nothing is paid for, and after a minute it fails',
      async (attack) => {
        await limit('0');
        await world.run(attack);
        start(SETTINGS);
        const id = await insert(DEPLOYMENT);
        const own = await insert();
        await reached(own, 'INCLUDED');
        await pause(10 * CHAIN.pollMs);
        expect(sentBy(OPERATOR)).toBe(0);
        const table = attack.startsWith('DELETE') ? 'organization' : 'gas_usage_config';
        expect(violations()).toMatchObject([{ table, row: home.id }]);
        world.nowMs += 61_000;
        expect(await reached(id, 'FAILED')).toMatchObject({ attempts: [], isOpen: false });
        expect(await codeOf(limit('1000'))).toBe('INTEGRITY_VIOLATION');
      },
      PATIENCE_MS,
    );
  });

  test(
    'an endpoint that is not genuine keeps no send from going on',
    async () => {
      const endpoint = { ...ENDPOINT, id: randomId<'webhook-endpoint'>(), organizationId: home.id };
      const genuine = { ...endpoint, id: randomId<'webhook-endpoint'>(), name: 'Genuine' };
      await world.storage.write(async (store) => {
        await store(WebhookStore).insertEndpoint(endpoint);
        await store(WebhookStore).insertEndpoint(genuine);
      });
      await world.run(`UPDATE webhook_endpoint SET url = 'https://thief.example/' WHERE id = '${endpoint.id}'`);
      start(SETTINGS);
      await reached(await insert(), 'INCLUDED');
      const told = await world.storage.read(SendReader).backlog();
      expect(told.waiting).toBe(1);
      const { rows } = await deliveries();
      expect(new Set(rows)).toEqual(new Set([genuine.id]));
      expect(violations()).toMatchObject([{ table: 'webhook_endpoint', row: endpoint.id }]);
    },
    PATIENCE_MS,
  );

  async function deliveries(): Promise<{ readonly rows: readonly string[] }> {
    const found = await world.storage.write((store) =>
      builderOf(store).selectFrom('webhook_delivery').selectAll().execute(),
    );
    return { rows: found.map(({ endpoint_id }) => endpoint_id) };
  }
});

import { describe, expect, test } from 'vitest';
import type {
  ContractInterface,
  IpAllowlist,
  MfaPolicy,
  MfaRequirement,
  Policy,
  SessionProfile,
  VelocityControl,
} from '../../src/core/model.ts';
import { SessionProfileReader, SessionProfileStore } from '../../src/domains/login/store/session-profiles.ts';
import {
  ContractInterfaceReader,
  ContractInterfaceStore,
} from '../../src/domains/policies/store/contract-interfaces.ts';
import { NetworkReader, NetworkStore } from '../../src/domains/policies/store/networks.ts';
import { PolicyReader, PolicyStore } from '../../src/domains/policies/store/policies.ts';
import { VelocityReader, VelocityStore } from '../../src/domains/policies/store/velocity.ts';
import { MfaReader, MfaStore } from '../../src/domains/users/store/mfa.ts';
import { randomId } from '../../src/lib/ids.ts';
import type { Page, PageRequest } from '../../src/lib/pagination.ts';
import { DATABASES } from '../harness/databases.ts';
import { codeOf, NOW, Place, times, withOrganization } from './place.ts';

// The stores of policies and of whatever else limits access, on both databases.

const STAMPS = { createdAtMs: NOW, updatedAtMs: NOW + 1 };
const TEXT = 'é"😀\u2028\\';

const policy = (extra: Partial<Policy> = {}): Policy => ({
  id: randomId(),
  name: randomId(),
  effect: 'EFFECT_DENY',
  condition: TEXT,
  consensus: '',
  time: '',
  notes: TEXT,
  ...STAMPS,
  ...extra,
});
const mfaPolicy = (extra: Partial<MfaPolicy> = {}): MfaPolicy => ({
  id: randomId(),
  userId: randomId(),
  name: TEXT,
  condition: TEXT,
  steps: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY', id: 'x' }, { type: 'AUTHENTICATION_TYPE_SESSION' }] }],
  order: 0,
  notes: '',
  ...STAMPS,
  ...extra,
});
const profile = (extra: Partial<SessionProfile> = {}): SessionProfile => ({
  id: randomId(),
  name: randomId(),
  scope: TEXT,
  expirationSeconds: 900,
  notes: '',
  ...STAMPS,
  ...extra,
});
const contract = (extra: Partial<ContractInterface> = {}): ContractInterface => ({
  id: randomId(),
  type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
  address: `0x${randomId().replaceAll('-', '')}AbCdEf01`,
  definition: TEXT,
  label: TEXT,
  notes: '',
  ...STAMPS,
  ...extra,
});
const control = (extra: Partial<VelocityControl> = {}): VelocityControl => ({
  id: randomId(),
  name: TEXT,
  identifier: randomId(),
  dataSource: { chainAssetTransfer: { definition: [{ caip19: 'eip155:1/slip44:60', decimals: '18' }] } },
  aggregation: {
    method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
    operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN',
    threshold: '1.5',
    window: { infinite: {} },
    groupBy: { user: {} },
  },
  refuseUncounted: false,
  ...STAMPS,
  ...extra,
});
const idsOf = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);
const ALL = { kind: 'all', max: 100 } as const;

describe.each(DATABASES)('access stores on %s', (kind) => {
  async function twoOrganizations() {
    const place = await Place.create(kind);
    const storage = await place.open();
    const [{ id }, { id: otherId }] = [await withOrganization(storage), await withOrganization(storage)];
    const [write, read] = [storage.write.bind(storage), storage.read];
    return { storage, write, read, id, otherId, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
  }

  /** A list is in the order of the ids, and what was deleted from it stays a cursor of its organization alone. */
  async function expectListed(
    ids: readonly string[],
    gone: string,
    page: (request: PageRequest) => Promise<Page<{ readonly id: string }>>,
  ): Promise<void> {
    expect(idsOf((await page(ALL)).items)).toEqual(ids);
    const behind = await page({ kind: 'page', limit: 10, after: gone });
    expect(idsOf(behind.items)).toEqual(ids.filter((id) => id > gone));
    expect(await codeOf(page({ kind: 'page', limit: 10, after: randomId() }))).toBe('REQUEST_INVALID');
  }

  test('policies come back as they went in, oldest first', async () => {
    await using at = await twoOrganizations();
    const { read, write, id, otherId } = at;
    const made = times(5, (index) => policy({ time: index === 1 ? TEXT : '', effect: 'EFFECT_ALLOW' }));
    // The same name elsewhere is another policy.
    const foreign = policy({ name: made[0]?.name as string });
    await write(async (store) => {
      await store(PolicyStore).insert(id, [...made].reverse());
      await store(PolicyStore).insert(otherId, [foreign]);
    });
    expect(await read(PolicyReader).all(id)).toEqual(made);
    expect(await read(PolicyReader).count(id)).toBe(5);
    for (const one of made) expect(await read(PolicyReader).get(id, one.id)).toEqual(one);
    expect(await codeOf(read(PolicyReader).get(otherId, made[0]?.id as string))).toBe('RESOURCE_NOT_FOUND');

    const [first, second, ...rest] = made as [Policy, Policy, ...Policy[]];
    const changed = {
      ...second,
      name: 'other',
      effect: 'EFFECT_DENY' as const,
      condition: '',
      time: '',
      updatedAtMs: 9,
    };
    await write((store) => store(PolicyStore).update(id, changed));
    await write((store) => store(PolicyStore).update(id, { ...foreign, notes: 'not theirs' }));
    expect(await read(PolicyReader).all(otherId)).toEqual([foreign]);
    expect(await codeOf(write((store) => store(PolicyStore).update(id, { ...changed, name: first.name })))).toBe(
      'POLICY_LABEL_NOT_UNIQUE',
    );
    // One that is not there keeps the others.
    for (const missing of [foreign.id, randomId()]) {
      expect(await codeOf(write((store) => store(PolicyStore).delete(id, [first.id, missing])))).toBe(
        'RESOURCE_NOT_FOUND',
      );
    }
    expect(await read(PolicyReader).all(id)).toEqual([first, changed, ...rest]);
    await write((store) => store(PolicyStore).delete(id, [changed.id]));
    await expectListed(idsOf([first, ...rest]), changed.id, (request) => read(PolicyReader).page(id, request));
    expect(await codeOf(read(PolicyReader).page(otherId, { kind: 'page', limit: 10, after: changed.id }))).toBe(
      'REQUEST_INVALID',
    );
  });

  test('what policies said is kept for each vote of an activity', async () => {
    await using at = await twoOrganizations();
    const { read, write, id, otherId } = at;
    const activityId = randomId<'activity'>();
    const made = times(3, (index) => ({
      activityId,
      voteId: randomId<'vote'>(),
      evaluations: [{ policyId: TEXT, outcome: index, trace: { deep: [null, true] } }],
      createdAtMs: NOW + index,
    }));
    await write(async (store) => {
      for (const one of [...made].reverse()) await store(PolicyStore).insertEvaluation(id, one);
    });
    expect(await read(PolicyReader).evaluations(id, activityId)).toEqual(made);
    expect(await read(PolicyReader).evaluations(otherId, activityId)).toEqual([]);
    expect(await read(PolicyReader).evaluations(id, randomId())).toEqual([]);
  });

  test('MFA policies are asked by their order, of equals the older one first', async () => {
    await using at = await twoOrganizations();
    const { read, write, id, otherId } = at;
    const userId = randomId<'user'>();
    const [second, first, third] = [5, 0, 5].map((order) => mfaPolicy({ userId, order })) as [
      MfaPolicy,
      MfaPolicy,
      MfaPolicy,
    ];
    const foreign = mfaPolicy({ userId });
    const another = mfaPolicy({ order: Number.MAX_SAFE_INTEGER });
    await write(async (store) => {
      for (const one of [third, first, second, another]) await store(MfaStore).insert(id, one);
      await store(MfaStore).insert(otherId, foreign);
    });
    expect(await read(MfaReader).ofUser(id, userId)).toEqual([first, second, third]);
    expect(await read(MfaReader).get(id, another.userId, another.id)).toEqual(another);
    for (const [organizationId, user, policyId] of [
      [otherId, userId, first.id],
      [id, another.userId, first.id],
      [id, userId, randomId()],
    ] as const) {
      expect(await codeOf(read(MfaReader).get(organizationId, user, policyId))).toBe('RESOURCE_NOT_FOUND');
    }
    const changed = { ...first, name: 'n', condition: '', steps: [], order: 6, notes: TEXT, updatedAtMs: 9 };
    await write(async (store) => {
      await store(MfaStore).update(id, changed);
      await store(MfaStore).delete(otherId, userId, second.id);
    });
    expect(await read(MfaReader).ofUser(id, userId)).toEqual([second, third, changed]);
    await write(async (store) => {
      await store(MfaStore).delete(id, userId, second.id);
      await store(MfaStore).deleteOfUsers(id, []);
      await store(MfaStore).deleteOfUsers(id, [another.userId, randomId()]);
    });
    expect(await read(MfaReader).ofUser(id, userId)).toEqual([third, changed]);
    expect(await read(MfaReader).ofUser(id, another.userId)).toEqual([]);
    expect(await read(MfaReader).ofUser(otherId, userId)).toEqual([foreign]);
  });

  test('what a user has proven is written over, what it has to prove is not', async () => {
    await using at = await twoOrganizations();
    const { read, write, id, otherId } = at;
    const { steps, ...of } = mfaPolicy();
    const requirement: MfaRequirement = {
      activityId: randomId(),
      userId: of.userId,
      mfaPolicyId: of.id,
      steps,
      proofs: [],
      satisfiedAtMs: undefined,
      createdAtMs: NOW,
    };
    const proof = {
      method: { type: 'AUTHENTICATION_TYPE_PASSKEY', id: 'x' },
      credentialId: 'c',
      digest: 'd',
      atMs: NOW,
    };
    const met = { ...requirement, proofs: [proof as MfaRequirement['proofs'][number]], satisfiedAtMs: NOW + 2 };
    const another = { ...requirement, userId: randomId<'user'>(), createdAtMs: NOW - 1 };
    await write(async (store) => {
      await store(MfaStore).putRequirement(id, requirement);
      await store(MfaStore).putRequirement(id, another);
      await store(MfaStore).putRequirement(otherId, requirement);
      await store(MfaStore).putRequirement(id, { ...met, steps: [], mfaPolicyId: randomId() });
    });
    expect(await read(MfaReader).requirements(id, requirement.activityId)).toEqual([another, met]);
    expect(await read(MfaReader).requirements(otherId, requirement.activityId)).toEqual([requirement]);
    expect(await read(MfaReader).requirements(id, randomId())).toEqual([]);
  });

  test('IP allowlists are replaced as a whole, that of the organization and those of keys apart', async () => {
    await using at = await twoOrganizations();
    const { read, write, id, otherId } = at;
    const list = (publicKey: string | undefined, extra: Partial<IpAllowlist> = {}): IpAllowlist => ({
      publicKey,
      enabled: true,
      onEvaluationError: 'DENY',
      rules: [{ cidr: '10.0.0.0/8', label: TEXT, createdAtMs: NOW }],
      ...extra,
    });
    const listsOf = async (of = id) =>
      (await read(NetworkReader).allowlists(of)).sort((a, b) => ((a.publicKey ?? '') < (b.publicKey ?? '') ? -1 : 1));
    await write(async (store) => {
      for (const key of [undefined, 'k1', 'k2']) await store(NetworkStore).put(id, list(key), NOW);
      await store(NetworkStore).put(otherId, list('k1'), NOW);
      await store(NetworkStore).put(id, list('k1', { rules: [], onEvaluationError: 'ALLOW' }), NOW + 1);
      await store(NetworkStore).put(id, list(undefined, { enabled: false }), NOW + 1);
    });
    const [whole, first] = [list(undefined, { enabled: false }), list('k1', { rules: [], onEvaluationError: 'ALLOW' })];
    expect(await listsOf()).toEqual([whole, first, list('k2')]);
    await write(async (store) => {
      await store(NetworkStore).remove(id, []);
      await store(NetworkStore).remove(id, ['k1', 'unknown']);
    });
    expect(await listsOf()).toEqual([whole, list('k2')]);
    await write((store) => store(NetworkStore).remove(id, [undefined]));
    expect(await listsOf()).toEqual([list('k2')]);
    expect(await listsOf(otherId)).toEqual([list('k1')]);
  });

  test('session profiles come back as they went in', async () => {
    await using at = await twoOrganizations();
    const { read, write, id, otherId } = at;
    const made = times(4, (index) => profile({ expirationSeconds: index === 2 ? undefined : 900 + index }));
    await write(async (store) => {
      for (const one of [...made].reverse()) await store(SessionProfileStore).insert(id, one);
      await store(SessionProfileStore).insert(otherId, profile({ name: made[0]?.name as string }));
    });
    for (const one of made) {
      expect(await read(SessionProfileReader).get(id, one.id)).toEqual(one);
      expect(await read(SessionProfileReader).find(otherId, one.id)).toBeUndefined();
    }
    expect((await read(SessionProfileReader).page(id, ALL)).items).toEqual(made);
    const twin = profile({ name: made[1]?.name as string });
    expect(await codeOf(write((store) => store(SessionProfileStore).insert(id, twin)))).toBe('ALREADY_EXISTS');
  });

  test('contract interfaces are found by address, Ethereum’s in any case', async () => {
    await using at = await twoOrganizations();
    const { read, write, id, otherId } = at;
    const ethereum = 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM';
    const solana = 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA';
    const made = [contract(), contract(), contract({ type: solana, address: 'SoLaNa' })] as const;
    const [first, second, program] = made;
    await write(async (store) => {
      for (const one of made) await store(ContractInterfaceStore).insert(id, one);
      // Others differ in the organization, in the type, or in the case where that matters.
      await store(ContractInterfaceStore).insert(otherId, { ...first, id: randomId() });
      await store(ContractInterfaceStore).insert(id, { ...first, id: randomId(), type: solana });
      await store(ContractInterfaceStore).insert(id, { ...program, id: randomId(), address: 'solana' });
    });
    const contractInterfaces = read(ContractInterfaceReader);
    const spellings = [first.address.toUpperCase().replace('0X', '0x'), '0xunknown'];
    expect(await contractInterfaces.ofAddresses(id, ethereum, spellings)).toEqual([first]);
    expect(await contractInterfaces.ofAddresses(id, solana, ['SoLaNa', 'SOLANA'])).toEqual([program]);
    expect(await contractInterfaces.ofAddresses(id, ethereum, [])).toEqual([]);
    const twin = { ...second, id: randomId<'contract-interface'>(), address: second.address.toLowerCase() };
    expect(await codeOf(write((store) => store(ContractInterfaceStore).insert(id, twin)))).toBe('REQUEST_INVALID');
    expect(await codeOf(write((store) => store(ContractInterfaceStore).delete(otherId, second.id)))).toBe(
      'RESOURCE_NOT_FOUND',
    );
    await write((store) => store(ContractInterfaceStore).delete(id, second.id));
    expect(await codeOf(contractInterfaces.get(id, second.id))).toBe('RESOURCE_NOT_FOUND');
    await write((store) => store(ContractInterfaceStore).insert(id, twin));
    expect(await contractInterfaces.get(id, twin.id)).toEqual(twin);
    const left = idsOf((await contractInterfaces.page(id, ALL)).items);
    await expectListed(left, second.id, (request) => contractInterfaces.page(id, request));
  });

  describe('velocity controls', () => {
    test('come back as they went in, and go with what they counted', async () => {
      await using at = await twoOrganizations();
      const { read, write, id, otherId } = at;
      const made = times(4, (index) => control({ refuseUncounted: index % 2 === 1 }));
      const [first, second] = made as [VelocityControl, VelocityControl];
      await write(async (store) => {
        for (const one of [...made].reverse()) await store(VelocityStore).insert(id, one);
        await store(VelocityStore).insert(otherId, control({ identifier: first.identifier }));
      });
      expect(await read(VelocityReader).all(id)).toEqual(made);
      expect(await read(VelocityReader).get(id, second.id)).toEqual(second);
      expect(await codeOf(read(VelocityReader).get(otherId, second.id))).toBe('RESOURCE_NOT_FOUND');
      const twin = control({ identifier: first.identifier });
      expect(await codeOf(write((store) => store(VelocityStore).insert(id, twin)))).toBe('ALREADY_EXISTS');
      const group = { controlId: second.id, groupKey: 'g' };
      const entry = { id: randomId(), activityId: randomId<'activity'>(), amount: 3n, atMs: NOW };
      await write((store) => store(VelocityStore).add(id, group, entry));
      expect(await codeOf(write((store) => store(VelocityStore).delete(otherId, second.id)))).toBe(
        'RESOURCE_NOT_FOUND',
      );
      expect(await read(VelocityReader).used(id, group, undefined)).toBe(3n);
      await write((store) => store(VelocityStore).delete(id, second.id));
      expect(await read(VelocityReader).used(id, group, undefined)).toBe(0n);
      expect(await write((store) => store(VelocityStore).lock(id, second.id))).toBe(false);
      expect(await write((store) => store(VelocityStore).lock(otherId, first.id))).toBe(false);
      expect(await write((store) => store(VelocityStore).lock(id, first.id))).toBe(true);
      const left = idsOf(made).filter((one) => one !== second.id);
      await expectListed(left, second.id, (request) => read(VelocityReader).page(id, request));
    });

    test('add up amounts of any size over the whole past or a window', async () => {
      await using at = await twoOrganizations();
      const { read, write, id, otherId } = at;
      const { id: controlId } = control();
      const group = { controlId, groupKey: 'g' };
      const add = (amount: bigint, atMs: number, to = group, organizationId = id) =>
        write((store) =>
          store(VelocityStore).add(organizationId, to, { id: randomId(), activityId: randomId(), amount, atMs }),
        );
      const huge = 10n ** 160n;
      await add(huge, 1000);
      await add(1n, 2000);
      await add(2n, 3000);
      await add(100n, 2500, { ...group, groupKey: 'h' });
      await add(100n, 2500, { ...group, controlId: control().id });
      await add(100n, 2500, group, otherId);
      const used = (sinceMs?: number) => read(VelocityReader).used(id, group, sinceMs);
      expect(await used()).toBe(huge + 3n);
      expect(await Promise.all([999, 1000, 1999, 2000, 2999, 3000, 4000].map(used))).toEqual([
        huge + 3n,
        3n,
        3n,
        2n,
        2n,
        0n,
        0n,
      ]);
      // A clock that went back does not hide what was counted before.
      await add(5n, 1500);
      expect(await used()).toBe(huge + 8n);
      expect(await used(2500)).toBe(7n);
    });

    test('add up whatever order the ids of the entries have', async () => {
      await using at = await twoOrganizations();
      const { read, write, id } = at;
      const group = { controlId: control().id, groupKey: 'g' };
      // Ids of several processes are in no order within a moment, and clocks of several machines differ.
      for (const entryId of times(4, () => randomId()).reverse()) {
        await write((store) =>
          store(VelocityStore).add(id, group, { id: entryId, activityId: randomId(), amount: 1n, atMs: NOW }),
        );
      }
      expect(await read(VelocityReader).used(id, group, undefined)).toBe(4n);
      expect(await read(VelocityReader).used(id, group, NOW - 1)).toBe(4n);
    });
  });
});

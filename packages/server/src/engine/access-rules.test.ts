import { describe, expect, test } from 'vitest';
import { fakeStores } from '../../test/harness/fake-stores.ts';
import type { Organization, Policy } from '../core/model.ts';
import { Allowlists, Policies, VelocityControls } from '../core/rules.ts';
import type { OrganizationId } from '../lib/ids.ts';
import { LIMITS } from '../lib/limits.ts';
import type { ReadStores } from '../storage/stores.ts';
import { AccessRulesCache } from './access-rules.ts';

/** Stores whose policies of every organization are these, and that count how often they were read. */
class FakeStores {
  policiesRead = 0;
  policies: Partial<Policy>[] = [];
  failure: Error | undefined;
  readonly read: ReadStores;

  constructor() {
    const policies = {
      all: async () => {
        this.policiesRead += 1;
        if (this.failure !== undefined) throw this.failure;
        return this.policies;
      },
    };
    this.read = fakeStores(
      [Policies, policies],
      [Allowlists, { allowlists: async () => [] }],
      [VelocityControls, { all: async () => [] }],
    );
  }
}

const organization = (id: string, rulesVersion: number): Organization =>
  ({ id: id as OrganizationId, rulesVersion }) as Organization;

const policy = (condition: string): Partial<Policy> => ({
  id: condition as Policy['id'],
  effect: 'EFFECT_ALLOW',
  condition,
  consensus: '',
  time: '',
});

const conditionsOf = async (rules: AccessRulesCache, at: Organization, read: ReadStores): Promise<unknown[]> =>
  (await rules.of(at, read)).policies.policies.map((prepared) => prepared.policy.condition);

describe('access rules', () => {
  test('are read once for each version, by all who ask at the same moment', async () => {
    const stores = new FakeStores();
    const rules = new AccessRulesCache(stores.read);
    stores.policies = [policy('true')];
    const first = await Promise.all([1, 2, 3].map(() => conditionsOf(rules, organization('a', 1), stores.read)));
    expect(first).toEqual([['true'], ['true'], ['true']]);
    await rules.of(organization('a', 1), stores.read);
    expect(stores.policiesRead).toBe(1);
    stores.policies = [policy('false')];
    expect(await conditionsOf(rules, organization('a', 2), stores.read)).toEqual(['false']);
    expect(stores.policiesRead).toBe(2);
  });

  test('an older version that comes late does not replace a newer one', async () => {
    const stores = new FakeStores();
    const rules = new AccessRulesCache(stores.read);
    stores.policies = [policy('true')];
    await rules.of(organization('a', 2), stores.read);
    stores.policies = [policy('false')];
    expect(await conditionsOf(rules, organization('a', 1), stores.read)).toEqual(['false']);
    expect(await conditionsOf(rules, organization('a', 2), stores.read)).toEqual(['true']);
  });

  test('a reading that failed is not kept, and organizations are not mixed up', async () => {
    const stores = new FakeStores();
    const rules = new AccessRulesCache(stores.read);
    stores.failure = new Error('away');
    await expect(rules.of(organization('a', 1), stores.read)).rejects.toThrow('away');
    stores.failure = undefined;
    stores.policies = [policy('true')];
    expect(await conditionsOf(rules, organization('a', 1), stores.read)).toEqual(['true']);
    stores.policies = [];
    expect(await conditionsOf(rules, organization('b', 1), stores.read)).toEqual([]);
  });

  test('nobody waits for the reading of a transaction, which may end in its failure', async () => {
    const outside = new FakeStores();
    const rules = new AccessRulesCache(outside.read);
    const transaction = new FakeStores();
    transaction.failure = new Error('rolled back');
    const inside = rules.of(organization('a', 1), transaction.read);
    const reading = rules.of(organization('a', 1), outside.read);
    await expect(inside).rejects.toThrow('rolled back');
    await expect(reading).resolves.toBeDefined();
    expect([transaction.policiesRead, outside.policiesRead]).toEqual([1, 1]);
  });

  test('nor is it kept: what the transaction saw may never be committed', async () => {
    const outside = new FakeStores();
    const rules = new AccessRulesCache(outside.read);
    const transaction = new FakeStores();
    transaction.policies = [policy('true')];
    expect(await conditionsOf(rules, organization('a', 2), transaction.read)).toEqual(['true']);
    expect(await conditionsOf(rules, organization('a', 2), outside.read)).toEqual([]);
  });

  test('those used least recently make room when all together are too heavy', async () => {
    const stores = new FakeStores();
    const rules = new AccessRulesCache(stores.read);
    // Three of them are too heavy together.
    const heavy = `wallet.id == '${'x'.repeat(10_000)}'`;
    stores.policies = Array.from({ length: LIMITS.policiesLength / 10_000 + 10 }, () => policy(heavy));
    const readAgain = async (id: string): Promise<boolean> => {
      const before = stores.policiesRead;
      await rules.of(organization(id, 1), stores.read);
      return stores.policiesRead > before;
    };
    for (const id of ['a', 'b']) expect(await readAgain(id)).toBe(true);
    expect(await readAgain('a')).toBe(false);
    expect(await readAgain('c')).toBe(true);
    expect(await readAgain('a')).toBe(false);
    expect(await readAgain('b')).toBe(true);
    // One that is too heavy by itself pushes nobody out.
    stores.policies = Array.from({ length: (2 * LIMITS.policiesLength) / 10_000 }, () => policy(heavy));
    expect(await readAgain('huge')).toBe(true);
    expect(await readAgain('huge')).toBe(true);
    expect(await readAgain('b')).toBe(false);
  });
});

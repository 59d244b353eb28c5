import { afterAll, beforeAll, expect } from 'vitest';
import type { Operation } from '../../../src/engine/define.ts';
import type { Answer, TestClient } from '../../harness/client.ts';
import type { DatabaseKind } from '../../harness/databases.ts';
import { casesOf } from '../../operations/all-cases.ts';
import type { Tenant } from '../../operations/tenant.ts';
import { prune, type Version } from '../schema.ts';
import { World } from '../world.ts';

/** How the attacked organization stands to the attacker's. */
export type Relation = 'sibling' | 'parent' | 'child' | 'stranger';

export interface Pair {
  readonly relation: Relation;
  readonly attacker: Tenant;
  readonly victim: Tenant;
  /** Older types too, or the current one only: what differs between them is the same for every pair. */
  readonly versions: 'all' | 'current';
}

export async function request(
  client: TestClient,
  operation: Operation,
  version: Version,
  parameters: Record<string, unknown>,
  organizationId = client.organizationId,
): Promise<Answer> {
  if (version.type === undefined) return await client.query(operation.name, { ...parameters, organizationId });
  return await client.submit(operation.name, parameters, { type: version.type, organizationId });
}

export function expectSuccess(operation: Operation, answer: Answer): void {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  if (operation.kind === 'query') return;
  const status = operation.name === 'reject_activity' ? 'ACTIVITY_STATUS_REJECTED' : 'ACTIVITY_STATUS_COMPLETED';
  expect(answer.body.activity.status).toBe(status);
}

export const parametersOf = (version: Version, superset: Record<string, unknown>): Record<string, unknown> =>
  prune(version.shape, superset) as Record<string, unknown>;

export function runsIn(operation: Operation, { scope }: Tenant): boolean {
  if (operation.kind !== 'activity') return scope === 'parent' || !casesOf(operation.name).isOfParents;
  return operation.scope === 'any' || operation.scope === scope;
}

/** Opened before the tests of a file, closed after them. */
export function openTenants(database: DatabaseKind) {
  let world: World;

  let pairs: Readonly<Record<string, Pair>>;

  let parent: Tenant;

  let first: Tenant;

  let second: Tenant;

  let other: Tenant;

  let othersChild: Tenant;

  beforeAll(async () => {
    const opened = await World.openWithTwoParents(database);
    world = opened.world;
    parent = world.parent;
    other = opened.other;
    first = await world.addSubOrganization(parent, 'first');
    second = await world.addSubOrganization(parent, 'second');
    othersChild = await world.addSubOrganization(other, 'child of the other');
    pairs = {
      'a sub-organization against its sibling': {
        relation: 'sibling',
        attacker: first,
        victim: second,
        versions: database === 'sqlite' ? 'all' : 'current',
      },
      'a sub-organization against its parent': {
        relation: 'parent',
        attacker: first,
        victim: parent,
        versions: 'current',
      },
      'a parent against its sub-organization': { relation: 'child', attacker: parent, victim: first, versions: 'all' },
      'a parent against another parent': {
        relation: 'stranger',
        attacker: parent,
        victim: other,
        versions: 'current',
      },
      'a sub-organization against another parent': {
        relation: 'stranger',
        attacker: first,
        victim: other,
        versions: 'current',
      },
      'a parent against the child of another': {
        relation: 'stranger',
        attacker: other,
        victim: second,
        versions: 'current',
      },
    };
  });

  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  /** `isKept` names what may be written all the same. */
  async function expectNoChange<T>(work: () => Promise<T>, isKept = (_line: string) => false): Promise<T> {
    const watch = await world.watch();
    const value = await work();
    expect((await watch.changes()).filter((line) => !isKept(line))).toEqual([]);
    return value;
  }

  function expectChangedOnly(changes: readonly string[], tenants: readonly Tenant[]): void {
    const ids = tenants.map((tenant) => tenant.ids.organization);
    for (const change of changes) {
      const owner = /\["organization_id","([^"]+)"\]/.exec(change)?.[1];
      expect(ids, change).toContain(owner);
    }
  }

  return {
    get first() {
      return first;
    },
    get world() {
      return world;
    },
    expectChangedOnly,
    get parent() {
      return parent;
    },
    get second() {
      return second;
    },
    get pairs() {
      return pairs;
    },
    expectNoChange,
    get other() {
      return other;
    },
    get othersChild() {
      return othersChild;
    },
  };
}

import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, createUser, currentType, newKeyPair, TestClient } from '../harness/client.ts';
import type { TestServer } from '../harness/server.ts';
import { type Chance, type Row, type StampedBody, stamped, trySend } from './support.ts';

/** How often a writer gives an unanswered request up instead of repeating it. */
const ABANDON = 0.2;

export interface World {
  /** Of the parent organization. */
  readonly root: TestClient;
  /** The root users of the sub-organization, all three of which must agree. */
  readonly members: readonly [TestClient, TestClient, TestClient];
  /** Somebody there who may act alone, and somebody who may do nothing. */
  readonly loner: TestClient;
  readonly stranger: TestClient;
}

export async function makeWorld({ credentials, baseUrl }: TestServer): Promise<World> {
  const root = TestClient.root(credentials, baseUrl);
  const keys = [newKeyPair(), newKeyPair(), newKeyPair()] as const;
  const { subOrganizationId, rootUserIds } = await root.run('create_sub_organization', {
    subOrganizationName: 'watched',
    rootQuorumThreshold: 1,
    rootUsers: keys.map(({ publicKey }, index) => ({
      userName: `member ${index}`,
      apiKeys: [{ apiKeyName: 'key', publicKey, curveType: 'API_KEY_CURVE_P256' }],
      authenticators: [],
      oauthProviders: [],
    })),
  });
  const memberOf = (index: 0 | 1 | 2): TestClient =>
    new TestClient(baseUrl, subOrganizationId, keys[index], rootUserIds[index]);
  const first = memberOf(0);
  const loner = await createUser(first, 'loner');
  const stranger = await createUser(first, 'stranger');
  const types = ['create_user_tag', 'update_user_name', 'create_webhook_endpoint'].map(currentType);
  await first.run('create_policy', {
    policyName: 'One may act alone',
    effect: 'EFFECT_ALLOW',
    condition: `activity.type in [${types.map((type) => `'${type}'`).join(', ')}]`,
    consensus: `approvers.any(user, user.id == '${loner.userId}')`,
    notes: '',
  });
  await first.run('update_root_quorum', { threshold: 3, userIds: rootUserIds });
  return { root, members: [first, memberOf(1), memberOf(2)], loner, stranger };
}

/** One change of an activity: what it became with how many votes. */
export const changeOf = ({ id, status, votes }: Row): string => `${id} ${status} ${votes.length}`;

/** All changes that led to an activity: every vote is one. */
export const changesOf = (activity: Row): string[] => [
  ...activity.votes
    .slice(1)
    .map((_vote: Row, index: number) => `${activity.id} ACTIVITY_STATUS_CONSENSUS_NEEDED ${index + 1}`),
  changeOf(activity),
];

const fingerprintOf = (body: string): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;
const tag = (userTagName: string) => ({ userTagName, userIds: [] });
const rename = ({ userId }: TestClient, userName: string) => ({ userId, userName });

/** Writers that remember what they were promised and what they were refused. */
export class Load {
  readonly acknowledged = new Set<string>();
  /** Fingerprints of what was undone, and of what is stored as denied. */
  readonly refused = new Set<string>();
  readonly denied = new Set<string>();
  readonly surprises: string[] = [];
  repeated = 0;
  abandoned = 0;
  readonly #world: World;
  readonly #up = new Set<TestServer>();
  readonly #changed = new EventEmitter().setMaxListeners(0);
  readonly #writers: Promise<void>[] = [];
  #isEnding = false;

  constructor(world: World, servers: readonly TestServer[]) {
    this.#world = world;
    for (const server of servers) this.#up.add(server);
  }

  begin(chances: readonly Chance[]): void {
    this.#writers.push(...chances.map((chance, index) => this.#write(index, chance)));
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#writers);
  }

  async kill(server: TestServer): Promise<void> {
    this.#up.delete(server);
    await server.kill();
  }

  async restart(server: TestServer): Promise<void> {
    await server.start();
    this.#up.add(server);
    this.#changed.emit('up');
  }

  async #write(index: number, chance: Chance): Promise<void> {
    const { loner, stranger, root } = this.#world;
    for (let count = 0; !this.#isEnding; count += 1) {
      const name = `${index}-${count}`;
      const what = chance.next();
      if (what < 0.3) await this.#submit(loner, 'create_user_tag', tag(name), chance);
      else if (what < 0.4) await this.#submit(loner, 'update_user_name', rename(loner, name), chance);
      else if (what < 0.55) await this.#contend(name, chance);
      else if (what < 0.6) await this.#submit(stranger, 'create_user_tag', tag(name), chance);
      else if (what < 0.7) await this.#submit(root, 'update_user_name', rename(root, name), chance);
      else await this.#decideTogether(name, chance);
      // Receivers in trouble rest for seconds: many more activities would make the test longer and not harder.
      await sleep(chance.between(50, 350));
    }
  }

  /** Only one of two tags can have the name; the other activity is undone. */
  async #contend(name: string, chance: Chance): Promise<void> {
    const { loner } = this.#world;
    await Promise.all([1, 2].map(() => this.#submit(loner, 'create_user_tag', tag(name), chance)));
  }

  /** Some activities stay pending, some are rejected, and some fail when they are approved. */
  async #decideTogether(name: string, chance: Chance): Promise<void> {
    const { members, loner } = this.#world;
    const proposer = chance.pick(members);
    const [second, third] = members.filter((member) => member !== proposer) as [TestClient, TestClient];
    const what = chance.next();
    const proposed = await this.#submit(proposer, 'create_user_tag', tag(`together ${name}`), chance);
    if (proposed === undefined || what < 0.1) return;
    const vote = (voter: TestClient, operation: string): Promise<unknown> =>
      this.#submit(voter, operation, { fingerprint: proposed.fingerprint }, chance);
    if (what < 0.25) {
      await vote(second, 'reject_activity');
      return;
    }
    if (what < 0.4) await this.#submit(loner, 'create_user_tag', tag(`together ${name}`), chance);
    if (what < 0.7) {
      await vote(second, 'approve_activity');
      await vote(third, 'approve_activity');
    } else {
      await Promise.all([second, third].map((voter) => vote(voter, 'approve_activity')));
    }
  }

  /** The activity as it was acknowledged. */
  async #submit(client: TestClient, operation: string, parameters: unknown, chance: Chance): Promise<Row | undefined> {
    const body = client.submitBody(operation, parameters);
    const answer = await this.#insist(stamped(`/public/v1/submit/${operation}`, body, client.key), chance);
    if (answer?.status === 200) {
      this.acknowledged.add(changeOf(answer.body.activity));
      return answer.body.activity;
    }
    if (answer?.body.errorCode === 'ALREADY_EXISTS') this.refused.add(fingerprintOf(body));
    else if (answer?.body.errorCode === 'REQUEST_NOT_AUTHORIZED') this.denied.add(fingerprintOf(body));
    else if (answer !== undefined) this.surprises.push(`${operation}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return undefined;
  }

  /** Sends the same bytes until an answer comes; undefined when it gave up. */
  async #insist(request: StampedBody, chance: Chance): Promise<Answer | undefined> {
    for (;;) {
      while (this.#up.size === 0) await once(this.#changed, 'up');
      const answer = await trySend(chance.pick([...this.#up]).baseUrl, request);
      if (answer !== undefined && answer.body?.errorCode !== 'CONFLICT') return answer;
      if (answer === undefined && chance.next() < ABANDON) {
        this.abandoned += 1;
        return undefined;
      }
      this.repeated += 1;
    }
  }
}

import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, createUser, currentType, newKeyPair, TestClient } from '../harness/client.ts';
import type { TestServer } from '../harness/server.ts';
import { type Chance, type Row, type StampedBody, stamped, trySend } from './support.ts';

/** How often a writer gives an unanswered request up instead of repeating it. */
const GIVE_UP = 0.2;
/** What writers do: at first one after the other, so that all of it happens, and then at random. */
const DEEDS = [
  'tag',
  'contend',
  'reject',
  'fail',
  'deny',
  'rename',
  'elsewhere',
  'leave pending',
  'approve together',
  'approve in turn',
] as const;
type Deed = (typeof DEEDS)[number];

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

/** Who writes: with which chance, and whether unanswered requests are given up at times. */
interface Hand {
  readonly chance: Chance;
  readonly givesUp: boolean;
}

/** Writers that remember what they were promised and what they were refused. */
export class Load {
  readonly acknowledged = new Set<string>();
  /** Fingerprints of what was undone, and of what is stored as denied. */
  readonly undone = new Set<string>();
  readonly denied = new Set<string>();
  readonly surprises: string[] = [];
  repeated = 0;
  givenUp = 0;
  readonly #world: World;
  readonly #up: Set<TestServer>;
  readonly #changed = new EventEmitter().setMaxListeners(0);
  #writers: readonly Promise<void>[] = [];
  #isEnding = false;

  constructor(world: World, servers: readonly TestServer[]) {
    this.#world = world;
    this.#up = new Set(servers);
  }

  begin(chances: readonly Chance[]): void {
    this.#writers = chances.map((chance, index) => this.#write(chance, index, chances.length));
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

  async #write(chance: Chance, index: number, writers: number): Promise<void> {
    for (let turn = index; !this.#isEnding || turn < DEEDS.length; turn += writers) {
      const planned = DEEDS[turn];
      await this.#do(planned ?? chance.pick(DEEDS), String(turn), { chance, givesUp: planned === undefined });
      // Receivers in trouble rest for seconds: many more activities would make the test longer and not harder.
      await sleep(chance.between(50, 350));
    }
  }

  async #do(deed: Deed, name: string, hand: Hand): Promise<void> {
    const { loner, stranger, root } = this.#world;
    const tagBy = (client: TestClient): Promise<unknown> => this.#submit(client, 'create_user_tag', tag(name), hand);
    switch (deed) {
      case 'tag':
        await tagBy(loner);
        break;
      case 'contend':
        // Only one of the two can have the name; the other activity is undone.
        await Promise.all([tagBy(loner), tagBy(loner)]);
        break;
      case 'deny':
        await tagBy(stranger);
        break;
      case 'rename':
        await this.#submit(loner, 'update_user_name', { userId: loner.userId, userName: name }, hand);
        break;
      case 'elsewhere':
        await this.#submit(root, 'update_user_name', { userId: root.userId, userName: name }, hand);
        break;
      default:
        await this.#decideTogether(deed, name, hand);
    }
  }

  async #decideTogether(deed: Deed, name: string, hand: Hand): Promise<void> {
    const { members, loner } = this.#world;
    const proposer = hand.chance.pick(members);
    const [second, third] = members.filter((member) => member !== proposer) as [TestClient, TestClient];
    const proposed = await this.#submit(proposer, 'create_user_tag', tag(name), hand);
    if (proposed === undefined || deed === 'leave pending') return;
    const vote = (voter: TestClient, operation: string): Promise<unknown> =>
      this.#submit(voter, operation, { fingerprint: proposed.fingerprint }, hand);
    if (deed === 'reject') {
      await vote(second, 'reject_activity');
      return;
    }
    if (deed === 'approve together') {
      await Promise.all([vote(second, 'approve_activity'), vote(third, 'approve_activity')]);
      return;
    }
    // What is approved when somebody else has the name fails.
    if (deed === 'fail') await this.#submit(loner, 'create_user_tag', tag(name), hand);
    await vote(second, 'approve_activity');
    await vote(third, 'approve_activity');
  }

  /** The activity as it was acknowledged. */
  async #submit(client: TestClient, operation: string, parameters: unknown, hand: Hand): Promise<Row | undefined> {
    const body = client.submitBody(operation, parameters);
    const answer = await this.#insist(stamped(`/public/v1/submit/${operation}`, body, client.key), hand);
    if (answer?.status === 200) {
      this.acknowledged.add(changeOf(answer.body.activity));
      return answer.body.activity;
    }
    if (answer?.body?.errorCode === 'ALREADY_EXISTS') this.undone.add(fingerprintOf(body));
    else if (answer?.body?.errorCode === 'REQUEST_NOT_AUTHORIZED') this.denied.add(fingerprintOf(body));
    else if (answer !== undefined) this.surprises.push(`${operation}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return undefined;
  }

  /** Sends the same bytes until an answer comes; undefined when it gave up. */
  async #insist(request: StampedBody, { chance, givesUp }: Hand): Promise<Answer | undefined> {
    for (;;) {
      while (this.#up.size === 0) await once(this.#changed, 'up');
      const answer = await trySend(chance.pick([...this.#up]).baseUrl, request);
      if (answer !== undefined && answer.body?.errorCode !== 'CONFLICT') return answer;
      if (answer === undefined && givesUp && chance.next() < GIVE_UP) {
        this.givenUp += 1;
        return undefined;
      }
      this.repeated += 1;
    }
  }
}

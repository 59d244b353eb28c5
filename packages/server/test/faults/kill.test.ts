import { createHash } from 'node:crypto';
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createUser, type KeyPair, newKeyPair, TestClient } from '../harness/client.ts';
import { createPostgresDatabase, DATABASES } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { TestServer } from '../harness/server.ts';
import {
  type Chance,
  chanceOf,
  chooseSeed,
  onPostgres,
  openTables,
  RawService,
  type Row,
  type StampedBody,
  stamped,
  type Tables,
  temporaryFolder,
  trySend,
  waitUntil,
} from './support.ts';

const WRITERS = 16;
const KILLS = times(4);
/** How often a writer gives an unanswered request up instead of repeating it. */
const ABANDON = 0.3;

const keyParams = (apiKeyName: string, { publicKey }: KeyPair) => ({
  apiKeyName,
  publicKey,
  curveType: 'API_KEY_CURVE_P256',
});
const userParams = (userName: string, key: KeyPair) => ({
  userName,
  apiKeys: [keyParams(`${userName} key`, key)],
  authenticators: [],
  oauthProviders: [],
});
const fingerprintOf = (body: string): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;

/** Something a writer asked for once, in bytes of its own. */
interface Deed {
  readonly operation: string;
  readonly organizationId: string;
  /** Unique in the whole run. */
  readonly name: string;
  readonly fingerprint: string;
  /** A key that the effect creates. */
  readonly key: KeyPair | undefined;
  readonly ballots: Ballot[];
  /** The activity of the 200 answer. */
  acknowledged: Row | undefined;
  isReadBack: boolean;
}

interface Ballot {
  readonly voter: TestClient;
  readonly selection: 'VOTE_SELECTION_APPROVED' | 'VOTE_SELECTION_REJECTED';
  acknowledged: Row | undefined;
}

/** Holds writers back while the service is away or looked at. */
class Gate {
  #open = deferred();
  isOpen = false;

  open(): void {
    this.isOpen = true;
    this.#open.resolve();
  }

  close(): void {
    this.isOpen = false;
    this.#open = deferred();
  }

  async pass(): Promise<void> {
    while (!this.isOpen) await this.#open.promise;
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Writers that ask for unique things without pause and remember what was promised to them. */
class Load {
  readonly deeds: Deed[] = [];
  readonly gate = new Gate();
  readonly server: TestServer;
  readonly root: TestClient;
  readonly quorum: readonly TestClient[];
  readonly targets: readonly (readonly [TestClient, TestClient])[];
  acknowledgements = 0;
  repeated = 0;
  abandoned = 0;
  conflicts = 0;
  inFlight = 0;
  isEnding = false;
  readonly surprises: string[] = [];

  constructor(
    server: TestServer,
    root: TestClient,
    quorum: readonly TestClient[],
    targets: readonly (readonly [TestClient, TestClient])[],
  ) {
    this.server = server;
    this.root = root;
    this.quorum = quorum;
    this.targets = targets;
  }

  async write(index: number, chance: Chance): Promise<void> {
    for (let count = 0; !this.isEnding; count += 1) {
      await this.gate.pass();
      if (chance.next() < 0.3) await this.#decideTogether(index, count, chance);
      else await this.#actAlone(index, count, chance);
    }
  }

  async #actAlone(index: number, count: number, chance: Chance): Promise<void> {
    const operation = chance.pick([
      'create_users',
      'update_user_name',
      'create_user_tag',
      'create_api_keys',
      'create_sub_organization',
    ]);
    await this.#propose(
      this.root,
      operation,
      `alone-${index}-${count}`,
      this.targets[index]?.[0] as TestClient,
      chance,
    );
  }

  /** Two of three must agree; some activities are left pending, some are rejected, some approved twice at once. */
  async #decideTogether(index: number, count: number, chance: Chance): Promise<void> {
    const first = chance.between(0, 2);
    const [proposer, second, third] = [0, 1, 2].map((step) => this.quorum[(first + step) % 3]) as [
      TestClient,
      TestClient,
      TestClient,
    ];
    const operation = chance.pick(['create_users', 'update_user_name', 'create_user_tag']);
    const target = this.targets[index]?.[1] as TestClient;
    const deed = await this.#propose(proposer, operation, `together-${index}-${count}`, target, chance);
    if (deed.acknowledged === undefined) return;
    const what = chance.next();
    if (what < 0.15) return;
    if (what < 0.3) return await this.#vote(deed, second, 'VOTE_SELECTION_REJECTED', chance);
    const voters = what < 0.5 ? [second, third] : [second];
    await Promise.all(voters.map((voter) => this.#vote(deed, voter, 'VOTE_SELECTION_APPROVED', chance)));
  }

  async #propose(
    proposer: TestClient,
    operation: string,
    name: string,
    target: TestClient,
    chance: Chance,
  ): Promise<Deed> {
    const key = ['create_users', 'create_api_keys', 'create_sub_organization'].includes(operation)
      ? newKeyPair()
      : undefined;
    const body = proposer.submitBody(operation, parametersOf(operation, name, target.userId, key));
    const { organizationId } = proposer;
    const deed: Deed = {
      operation,
      organizationId,
      name,
      fingerprint: fingerprintOf(body),
      key,
      ballots: [],
      acknowledged: undefined,
      isReadBack: false,
    };
    this.deeds.push(deed);
    const status = proposer === this.root ? ['ACTIVITY_STATUS_COMPLETED'] : ['ACTIVITY_STATUS_CONSENSUS_NEEDED'];
    const activity = await this.#insist(stamped(`/public/v1/submit/${operation}`, body, proposer.key), chance);
    if (activity !== undefined && !(status.includes(activity.status) && activity.fingerprint === deed.fingerprint))
      this.surprises.push(`${operation} ${name}: ${JSON.stringify(activity)}`);
    deed.acknowledged = activity;
    return deed;
  }

  async #vote(deed: Deed, voter: TestClient, selection: Ballot['selection'], chance: Chance): Promise<void> {
    const ballot: Ballot = { voter, selection, acknowledged: undefined };
    deed.ballots.push(ballot);
    const operation = selection === 'VOTE_SELECTION_APPROVED' ? 'approve_activity' : 'reject_activity';
    const body = voter.submitBody(operation, { fingerprint: deed.fingerprint });
    ballot.acknowledged = await this.#insist(stamped(`/public/v1/submit/${operation}`, body, voter.key), chance);
  }

  /** Sends the same bytes until an answer comes; undefined when it gave up or came too late to vote. */
  async #insist(request: StampedBody, chance: Chance): Promise<Row | undefined> {
    for (;;) {
      await this.gate.pass();
      this.inFlight += 1;
      const answer = await trySend(this.server.baseUrl, request).finally(() => {
        this.inFlight -= 1;
      });
      if (answer?.status === 200) {
        this.acknowledgements += 1;
        return answer.body.activity;
      }
      if (answer === undefined) {
        if (chance.next() < ABANDON) {
          this.abandoned += 1;
          return undefined;
        }
        this.repeated += 1;
      } else if (answer.body?.errorCode === 'CONFLICT') {
        this.conflicts += 1;
      } else {
        // The other one of two approvals at once may be too late.
        if (answer.body?.errorCode !== 'ACTIVITY_ALREADY_DECIDED') {
          this.surprises.push(`${request.path}: ${answer.status} ${JSON.stringify(answer.body)}`);
        }
        return undefined;
      }
    }
  }
}

function parametersOf(operation: string, name: string, userId: string, key: KeyPair | undefined): unknown {
  switch (operation) {
    case 'create_users':
      return { users: [{ ...userParams(name, key as KeyPair), userTags: [] }] };
    case 'update_user_name':
      return { userId, userName: name };
    case 'create_user_tag':
      return { userTagName: name, userIds: [userId] };
    case 'create_api_keys':
      return { userId, apiKeys: [keyParams(name, key as KeyPair)] };
    default:
      return { subOrganizationName: name, rootQuorumThreshold: 1, rootUsers: [userParams(name, key as KeyPair)] };
  }
}

/** Everything that the tables must agree on, whatever happened; returns what they do not. */
async function findProblems(tables: Tables, load: Load): Promise<string[]> {
  const [activities, votes, users, keys, tags, organizations, features, tree, memberships] = (await tables.read(
    'SELECT organization_id, id, fingerprint, operation, status, proposer_id, parameters, body, result, updated_at_ms FROM activity',
    'SELECT organization_id, activity_id, user_id, selection, message_digest, counts FROM vote',
    'SELECT organization_id, id, name FROM app_user',
    'SELECT organization_id, id, user_id, name, public_key FROM api_key',
    'SELECT organization_id, id, name FROM tag',
    'SELECT id, parent_id, name, root_user_ids FROM organization',
    'SELECT organization_id, name FROM organization_feature',
    "SELECT organization_id, owner_id FROM tree_entry WHERE kind = 'NAME'",
    'SELECT organization_id, user_id, tag_id FROM user_tag',
  )) as [Row[], Row[], Row[], Row[], Row[], Row[], Row[], Row[], Row[]];
  const problems: string[] = await tables.damage();
  const complain = (what: string, row: Row): void => {
    problems.push(`${what}: ${JSON.stringify(row)}`);
  };
  const countBy = (rows: readonly Row[], keyOf: (row: Row) => string): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
    return counts;
  };
  const activityById = new Map(activities.map((row) => [row.id as string, row]));
  const votesOf = new Map<string, Row[]>();
  for (const vote of votes) {
    if (!activityById.has(vote.activity_id)) complain('a vote without activity', vote);
    votesOf.set(vote.activity_id, [...(votesOf.get(vote.activity_id) ?? []), vote]);
  }
  for (const [key, count] of countBy(activities, (row) => `${row.organization_id} ${row.fingerprint}`)) {
    if (count > 1) problems.push(`${count} activities with one fingerprint: ${key}`);
  }

  // What the completed activities say must exist; each row is to be explained by exactly one of them.
  const explained = { users: new Map<string, string>(), keys: new Set<string>(), tags: new Map<string, string>() };
  const children = new Map<string, string>();
  const lastNames = new Map<string, Row>();
  for (const row of activities) {
    const { operation, status, organization_id: organizationId } = row;
    // The first organization's activity was signed by nobody and has no body.
    const parameters = row.body === null ? JSON.parse(row.parameters) : JSON.parse(row.body).parameters;
    const result = row.result === null ? undefined : JSON.parse(row.result);
    const cast = votesOf.get(row.id) ?? [];
    const isTogether = load.quorum.some((member) => member.organizationId === organizationId);
    const approvers = new Set(
      cast.filter((vote) => vote.selection === 'VOTE_SELECTION_APPROVED').map((vote) => vote.user_id as string),
    );
    if (new Set(cast.map((vote) => vote.user_id)).size !== cast.length) complain('a user voted twice', row);
    if (operation === 'create_organization') {
      explained.users.set(parameters.rootUserId, 'Root user');
      explained.keys.add(`${organizationId} ${load.root.key.publicKey}`);
      continue;
    }
    if (!approvers.has(row.proposer_id)) complain('no vote of the proposer', row);
    if (status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' || status === 'ACTIVITY_STATUS_REJECTED') {
      if (!isTogether) complain('pending without a quorum', row);
      if (result !== undefined) complain('a result without consensus', row);
      if (approvers.size !== 1) complain('not exactly the vote of the proposer', row);
      const rejections = cast.filter((vote) => vote.selection === 'VOTE_SELECTION_REJECTED').length;
      if (rejections !== (status === 'ACTIVITY_STATUS_REJECTED' ? 1 : 0)) complain('wrong rejections', row);
      continue;
    }
    if (status !== 'ACTIVITY_STATUS_COMPLETED') {
      complain('unexpected status', row);
      continue;
    }
    if (approvers.size < (isTogether ? 2 : 1)) complain('completed without its quorum', row);
    if (operation === 'create_users') {
      for (const [index, user] of parameters.users.entries()) {
        explained.users.set(result.userIds[index], user.userName);
        for (const key of user.apiKeys) explained.keys.add(`${organizationId} ${key.publicKey}`);
      }
    } else if (operation === 'create_user_tag') {
      explained.tags.set(result.userTagId, parameters.userTagName);
      for (const userId of parameters.userIds) {
        const isMember = memberships.some((member) => member.tag_id === result.userTagId && member.user_id === userId);
        if (!isMember) complain('a tag without its users', row);
      }
    } else if (operation === 'create_api_keys') {
      for (const key of parameters.apiKeys) explained.keys.add(`${organizationId} ${key.publicKey}`);
    } else if (operation === 'create_sub_organization') {
      children.set(result.subOrganizationId, parameters.subOrganizationName);
      for (const [index, user] of parameters.rootUsers.entries()) {
        explained.users.set(result.rootUserIds[index], user.userName);
        for (const key of user.apiKeys) explained.keys.add(`${result.subOrganizationId} ${key.publicKey}`);
      }
    } else if (operation === 'update_user_name') {
      const before = lastNames.get(parameters.userId);
      const isLater =
        before === undefined ||
        row.updated_at_ms > before.updated_at_ms ||
        (row.updated_at_ms === before.updated_at_ms && row.id > before.id);
      if (isLater) lastNames.set(parameters.userId, { ...row, name: parameters.userName });
    }
  }
  for (const [userId, row] of lastNames) explained.users.set(userId, row.name);

  // Both ways: nothing that was done is missing, nothing is there that no activity did.
  const compare = (what: string, expected: Iterable<string>, found: Iterable<string>): void => {
    const [wanted, present] = [new Set(expected), new Set(found)];
    for (const one of wanted) if (!present.has(one)) problems.push(`${what} is missing: ${one}`);
    for (const one of present) if (!wanted.has(one)) problems.push(`${what} came from no activity: ${one}`);
  };
  const pairsOf = (map: Map<string, string>): string[] => [...map].map(([id, name]) => `${id} ${name}`);
  compare(
    'user',
    pairsOf(explained.users),
    users.map((row) => `${row.id} ${row.name}`),
  );
  compare(
    'tag',
    pairsOf(explained.tags),
    tags.map((row) => `${row.id} ${row.name}`),
  );
  compare(
    'API key',
    explained.keys,
    keys.map((row) => `${row.organization_id} ${row.public_key}`),
  );
  const subOrganizations = organizations.filter((row) => row.parent_id !== null);
  compare(
    'sub-organization',
    pairsOf(children),
    subOrganizations.map((row) => `${row.id} ${row.name}`),
  );
  compare(
    'name in the tree',
    children.keys(),
    tree.map((row) => row.organization_id),
  );
  const featuresOf = countBy(features, (row) => row.organization_id);
  for (const row of subOrganizations) {
    const members = users.filter((user) => user.organization_id === row.id).map((user) => user.id);
    if (featuresOf.get(row.id) !== 4) complain('a sub-organization without its features', row);
    const roots = JSON.parse(row.root_user_ids) as string[];
    if (roots.length === 0 || !roots.every((id) => members.includes(id))) complain('roots are not its users', row);
  }
  for (const [rows, what] of [
    [users.filter((row) => /^(alone|together)-/.test(row.name)), 'user'],
    [tags, 'tag'],
    [subOrganizations, 'sub-organization'],
  ] as const) {
    for (const [name, count] of countBy(rows, (row) => `${what === 'user' ? row.organization_id : ''} ${row.name}`)) {
      if (count > 1) problems.push(`${what} ${name} exists ${count} times`);
    }
  }

  // Every promise is kept.
  const byFingerprint = new Map(activities.map((row) => [`${row.organization_id} ${row.fingerprint}`, row]));
  for (const deed of load.deeds) {
    const row = byFingerprint.get(`${deed.organizationId} ${deed.fingerprint}`);
    if (deed.acknowledged !== undefined && row?.id !== deed.acknowledged.id) {
      problems.push(`acknowledged and lost: ${deed.operation} ${deed.name}`);
    }
    for (const { acknowledged, voter, selection } of deed.ballots) {
      if (acknowledged === undefined) continue;
      const cast = (votesOf.get(row?.id) ?? []).filter((vote) => vote.user_id === voter.userId);
      if (row?.status !== acknowledged.status || cast.length !== 1 || cast[0]?.selection !== selection) {
        problems.push(`acknowledged vote and lost: ${deed.operation} ${deed.name} by ${voter.userId}`);
      }
    }
  }
  return problems;
}

/** Reads back through the API whatever was acknowledged since the last time. */
async function readBack(load: Load): Promise<number> {
  const { baseUrl } = load.server;
  const at = (client: TestClient): TestClient =>
    new TestClient(baseUrl, client.organizationId, client.key, client.userId);
  const readerOf = (deed: Deed): TestClient =>
    at(deed.organizationId === load.root.organizationId ? load.root : (load.quorum[0] as TestClient));
  const fresh = load.deeds.filter((deed) => deed.acknowledged !== undefined && !deed.isReadBack);
  const tagNames = new Map<string, Set<string>>();
  for (const client of [load.root, load.quorum[0] as TestClient]) {
    const { body } = await at(client).query('list_user_tags');
    tagNames.set(client.organizationId, new Set(body.userTags.map((tag: Row) => `${tag.tagId} ${tag.tagName}`)));
  }
  const check = async (deed: Deed): Promise<void> => {
    const reader = readerOf(deed);
    const { status, body } = await reader.query('get_activity', { activityId: deed.acknowledged?.id });
    expect(status, `${deed.operation} ${deed.name}`).toBe(200);
    const { activity } = body;
    expect(activity.fingerprint).toBe(deed.fingerprint);
    for (const ballot of deed.ballots) {
      if (ballot.acknowledged !== undefined) expect(activity.status).toBe(ballot.acknowledged.status);
    }
    if (deed.ballots.length === 0) {
      expect(activity.status).toBe(deed.acknowledged?.status);
      expect(activity.result).toEqual(deed.acknowledged?.result);
    }
    if (activity.status !== 'ACTIVITY_STATUS_COMPLETED') return;
    const result = Object.values(activity.result)[0] as Row;
    if (deed.key !== undefined) {
      // The credential works, and it is the one that was asked for.
      const organizationId: string = result.subOrganizationId ?? deed.organizationId;
      const me = await new TestClient(baseUrl, organizationId, deed.key).query('whoami');
      expect(me.status, `${deed.operation} ${deed.name}`).toBe(200);
      if (deed.operation !== 'create_api_keys') expect(me.body.username).toBe(deed.name);
    } else if (deed.operation === 'create_user_tag') {
      expect(tagNames.get(deed.organizationId)?.has(`${result.userTagId} ${deed.name}`), deed.name).toBe(true);
    }
  };
  for (let start = 0; start < fresh.length; start += WRITERS) {
    await Promise.all(fresh.slice(start, start + WRITERS).map(check));
  }
  for (const deed of fresh) deed.isReadBack = true;
  await readNames(load, at);
  return fresh.length;
}

/**
 * Each target is renamed by one writer only, so its name is the last acknowledged one or one that was asked for later.
 */
async function readNames(load: Load, at: (client: TestClient) => TestClient): Promise<void> {
  for (const [index, [alone, together]] of load.targets.entries()) {
    for (const [target, prefix] of [
      [alone, 'alone'],
      [together, 'together'],
    ] as const) {
      const renames = load.deeds.filter(
        (deed) => deed.operation === 'update_user_name' && deed.name.startsWith(`${prefix}-${index}-`),
      );
      const isDone = (deed: Deed): boolean =>
        prefix === 'alone'
          ? deed.acknowledged !== undefined
          : deed.ballots.some((ballot) => ballot.acknowledged?.status === 'ACTIVITY_STATUS_COMPLETED');
      const last = renames.findLastIndex(isDone);
      const possible = renames.slice(Math.max(last, 0)).map((deed) => deed.name);
      if (last === -1) possible.push(`target ${prefix} ${index}`);
      const { body } = await at(target).query('get_user', { userId: target.userId });
      expect(possible).toContain(body.user.userName);
    }
  }
}

async function prepare(server: TestServer): Promise<Load> {
  const root = TestClient.root(server.credentials, server.baseUrl);
  const members = [newKeyPair(), newKeyPair(), newKeyPair()] as const;
  const { subOrganizationId, rootUserIds } = await root.run('create_sub_organization', {
    subOrganizationName: 'quorum',
    rootQuorumThreshold: 2,
    rootUsers: members.map((key, index) => userParams(`member ${index}`, key)),
  });
  const quorum = members.map(
    (key, index) => new TestClient(server.baseUrl, subOrganizationId, key, rootUserIds[index]),
  );
  const targets: (readonly [TestClient, TestClient])[] = [];
  for (let index = 0; index < WRITERS; index += 1) {
    const alone = await createUser(root, `target alone ${index}`);
    const key = newKeyPair();
    const [first, second] = quorum as [TestClient, TestClient];
    const asked = await first.submit('create_users', {
      users: [{ ...userParams(`target together ${index}`, key), userTags: [] }],
    });
    const { fingerprint } = asked.body.activity;
    const done = await second.submit('approve_activity', { fingerprint });
    const [userId] = done.body.activity.result.createUsersResult.userIds;
    targets.push([alone, first.as(key, userId)]);
  }
  return new Load(server, root, quorum, targets);
}

/** Sessions of a killed process; the database may still be finishing what they had sent. */
async function sessionsOf(url: string | undefined): Promise<number[]> {
  if (url === undefined) return [];
  return await onPostgres(url, async (client) => {
    const { rows } = await client.query(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'custos'",
    );
    return rows.map((row: Row) => row.pid);
  });
}

describe.each(DATABASES)('kill -9 on %s', (database) => {
  test(`${WRITERS} writers, ${KILLS} kills: nothing acknowledged is lost, nothing runs twice or half`, async () => {
    const seed = chooseSeed(`kill under load on ${database}`);
    const chance = chanceOf(seed);
    await using server = await TestServer.start({ database, env: { CUSTOS_LOG_LEVEL: 'warn' } });
    const load = await prepare(server);
    await using tables = await openTables(server.dataDir, server.databaseUrl);
    expect(await findProblems(tables, load)).toEqual([]);
    const writers = Array.from({ length: WRITERS }, (_, index) =>
      load.write(index, chanceOf((seed + 0x9e3779b9 * (index + 1)) >>> 0)),
    );
    let readBackCount = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const moment = chance.next() < 0.5 ? chance.between(1, 600) : undefined;
      const enough = load.acknowledgements + chance.between(1, 200);
      load.gate.open();
      if (moment !== undefined) await sleep(moment);
      else await waitUntil('the writers were answered', () => load.acknowledgements >= enough);
      load.gate.close();
      await server.kill();
      const orphans = await sessionsOf(server.databaseUrl);
      await waitUntil('the writers saw it', () => load.inFlight === 0);
      await server.start();
      await waitUntil('the old sessions are over', async () => {
        const now = await sessionsOf(server.databaseUrl);
        return orphans.every((pid) => !now.includes(pid));
      });
      expect(load.surprises).toEqual([]);
      expect(await findProblems(tables, load), `after kill ${kill}`).toEqual([]);
      readBackCount += await readBack(load);
    }
    load.isEnding = true;
    load.gate.open();
    await Promise.all(writers);
    expect(load.surprises).toEqual([]);
    expect(await findProblems(tables, load)).toEqual([]);
    for (const deed of load.deeds) deed.isReadBack = false;
    await readBack(load);
    expect(await server.stop()).toBe(0);
    expect(server.output.stderr).not.toContain('internal error');
    const { acknowledgements, repeated, abandoned, conflicts, deeds } = load;
    console.log(
      `${database}: ${deeds.length} activities asked for, ${acknowledgements} answers, ${repeated} repeated, ${abandoned} given up, ${conflicts} conflicts, ${readBackCount} read back between kills`,
    );
    // Otherwise the kills came when nothing happened.
    expect(acknowledgements).toBeGreaterThan(KILLS * 2);
    expect(repeated + abandoned).toBeGreaterThan(KILLS);
  }, 240_000);

  test('a first start that is killed leaves credentials that fit the database, or none', async () => {
    const chance = chanceOf(chooseSeed(`kill of the first start on ${database}`));
    for (let round = 0; round < 2; round += 1) {
      await using postgres = database === 'postgres' ? await createPostgresDatabase({ isEmpty: true }) : undefined;
      using folder = temporaryFolder();
      const env = {
        CUSTOS_DATA_DIR: folder.path,
        CUSTOS_PORT: '0',
        ...(postgres && { CUSTOS_DATABASE_URL: postgres.url }),
      };
      {
        await using first = new RawService(env);
        // Either the moment between the file and the commit, or any moment.
        if (round % 2 === 0) await whenAppears(folder.path, 'root-credentials.json', first);
        else await sleep(chance.between(200, 900));
      }
      await using server = await TestServer.start({ dataDir: folder.path, env });
      const root = TestClient.root(server.credentials, server.baseUrl);
      const { status, body } = await root.query('whoami');
      expect(status).toBe(200);
      expect(body.userId).toBe(root.userId);
      await using tables = await openTables(folder.path, postgres?.url);
      const [organizations] = await tables.read('SELECT id FROM organization');
      expect(organizations).toEqual([{ id: root.organizationId }]);
    }
  }, 120_000);
});

async function whenAppears(folder: string, name: string, service: RawService): Promise<void> {
  const appeared = deferred();
  const watcher = watch(folder, (_event, file) => {
    if (file === name) appeared.resolve();
  });
  await Promise.race([appeared.promise, service.exited]);
  watcher.close();
  expect(existsSync(join(folder, name))).toBe(true);
}

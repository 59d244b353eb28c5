import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FingerprintShape } from '../../src/domains/activities/shapes.ts';
import type { ActivityOperation, Operation } from '../../src/engine/define.ts';
import { isUuid, randomId, UUID_PATTERN } from '../../src/lib/ids.ts';
import { activities, operations, pathOf, queries } from '../../src/registry.ts';
import { Receiver } from '../harness/bundles.ts';
import {
  type Answer,
  createSubOrganization,
  createUser,
  newKeyPair,
  send,
  stampFor,
  type TestClient,
} from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { expectRefusal, outward } from './answers.ts';
import type { Case } from './case.ts';
import { casedOperations, caseFor } from './cases.ts';
import { newEmail, newLogin, newVerification } from './outside.ts';
import { type Field, fieldsOf, prune, read, type Shape, type Version, versionsOf, withValue } from './schema.ts';
import { inParallel } from './wire.ts';
import { type IdKind, type Tenant, World, withPasskey, withSession } from './world.ts';

/** How the attacked organization stands to the attacker's. */
type Relation = 'sibling' | 'parent' | 'child' | 'stranger';

interface Pair {
  readonly relation: Relation;
  readonly attacker: Tenant;
  readonly victim: Tenant;
  /** Older types too, or the current one only: what differs between them is the same for every pair. */
  readonly versions: 'all' | 'current';
}

/** Which of a tenant's things a field names; a new id field needs a line here. */
const KINDS_OF_FIELD: Readonly<Record<string, readonly IdKind[]>> = {
  userId: ['user'],
  userIds: ['user'],
  addUserIds: ['user'],
  removeUserIds: ['user'],
  senderUserId: ['user'],
  userTagId: ['tag', 'keyTag'],
  userTagIds: ['tag', 'keyTag'],
  userTags: ['tag', 'keyTag'],
  receiverUserTags: ['tag', 'keyTag'],
  apiKeyId: ['apiKey'],
  apiKeyIds: ['apiKey'],
  authenticatorId: ['authenticator'],
  authenticatorIds: ['authenticator'],
  credentialId: ['credential'],
  rawId: ['credential'],
  invitationId: ['invitation'],
  activityId: ['activity'],
  fingerprint: ['fingerprint'],
  walletId: ['wallet', 'account'],
  walletIds: ['wallet', 'account'],
  walletAccountIds: ['account', 'wallet'],
  privateKeyId: ['privateKey', 'account'],
  privateKeyIds: ['privateKey', 'account'],
  addPrivateKeyIds: ['privateKey'],
  removePrivateKeyIds: ['privateKey'],
  privateKeyTagId: ['keyTag', 'tag'],
  privateKeyTagIds: ['keyTag', 'tag'],
  privateKeyTags: ['keyTag', 'tag'],
  secretId: ['secret'],
  secretIds: ['secret'],
  policyId: ['policy'],
  policyIds: ['policy'],
  mfaPolicyId: ['mfaPolicy', 'policy'],
  sessionProfileId: ['sessionProfile', 'policy'],
  smartContractInterfaceId: ['contractInterface', 'policy'],
  velocityControlId: ['velocityControl', 'policy'],
  submitterUserId: ['user'],
  approverUserIds: ['user'],
  otpId: ['otp'],
  providerIds: ['oauthProvider'],
  oauth2CredentialId: ['oauth2Credential'],
  fiatOnrampCredentialId: ['onRampCredential'],
  transactionId: ['onRampTransaction'],
  endpointId: ['webhookEndpoint', 'webhookDelivery'],
  deliveryId: ['webhookDelivery', 'webhookEvent'],
  // Chooses among what the organization has; of others there is nothing to choose from.
  eventId: [],
  wrapperAddress: ['earnWrapper'],
  clientFeeWallet: ['address', 'keyAddress'],
  deployRequestId: ['earnDeployment', 'earnDeposit'],
  depositRequestId: ['earnDeposit', 'earnWithdrawal'],
  withdrawRequestId: ['earnWithdrawal', 'earnDeposit'],
  claimRequestId: ['earnClaim', 'earnDeposit'],
  tvcAppId: ['tvcApp', 'tvcDeployment'],
  appId: ['tvcApp', 'tvcDeployment'],
  deploymentId: ['tvcDeployment', 'tvcApp'],
  manifestId: ['tvcManifest', 'tvcDeployment'],
  operatorId: ['tvcOperator'],
  existingOperatorIds: ['tvcOperator', 'tvcOperatorSet'],
  shareSetId: ['tvcOperatorSet', 'tvcOperator'],
  organizationId: ['organization'],
  // Names that others gave: of clients at providers, and of templates.
  clientId: [],
  projectId: [],
  socialLinkingClientIds: [],
  templateId: [],
  emailAuthTemplateId: [],
  otpTemplateId: [],
  address: ['address', 'keyAddress'],
  signWith: ['address', 'account', 'keyAddress', 'privateKey', 'wallet'],
  from: ['address', 'keyAddress'],
  sendTransactionStatusId: ['send', 'wallet'],
  signWiths: ['address', 'account', 'keyAddress', 'privateKey', 'wallet'],
};

/** Texts that name a tenant's thing in one operation only. */
const KINDS_OF_PLACE: Readonly<Record<string, readonly IdKind[]>> = {
  'import_secrets secrets.0.targetPublicKey': ['secretTarget'],
  // Whatever holds nothing that the caller may see has an empty list.
  'list_earn_positions walletAddress': [],
  // What an address has on a chain is there for everybody to see.
  'get_nonces address': [],
  'get_wallet_address_balances address': [],
  'list_eth_transaction_history address': [],
  // A set is named by its id or by its members, and the table has one of each.
  'create_tvc_app manifestSetId': [],
  'create_tvc_app shareSetParams.existingOperatorIds.0': [],
  // A new sub-organization has no tags: it is refused whatever it is.
  'create_sub_organization privateKeys.0.privateKeyTags.0': [],
  // Whose mail it is has a test of its own.
  'record_email_event messageId': [],
  'set_ip_allowlist publicKey': ['publicKey'],
  'create_read_write_session email': ['email'],
  'email_auth email': ['email'],
  'init_otp_auth contact': ['email'],
  'init_user_email_recovery email': ['email'],
  'create_mfa_policy requiredAuthenticationMethods.0.any.0.id': ['authenticator'],
  'update_mfa_policy requiredAuthenticationMethods.0.any.0.id': ['authenticator'],
};

/**
 * Fields whose id nobody looks up: those of older versions that clients send, and the credential that an MFA step waits
 * for.
 */
const UNREAD_FIELDS: ReadonlySet<string> = new Set([
  'users.0.authenticators.0.userId',
  'requiredAuthenticationMethods.0.any.0.id',
]);

/**
 * What a parent runs in its sub-organizations, by its own users and rules; nobody else does (protocol/consensus 5.2).
 */
const PARENT_RUN: ReadonlySet<string> = new Set([
  'email_auth',
  'init_otp',
  'init_otp_auth',
  'init_user_email_recovery',
  'oauth',
  'oauth_login',
  'otp_auth',
  'otp_login',
  'verify_otp',
]);

/** What is answered about things of others. */
const UNKNOWN_THINGS: ReadonlySet<string> = new Set([
  'INVALID_OTP_CODE',
  'INVALID_VERIFICATION_TOKEN',
  'RESOURCE_NOT_FOUND',
  'WEBHOOK_ENDPOINT_NOT_FOUND',
]);

/** Queries of what only parents have. */
const OF_PARENTS: ReadonlySet<string> = new Set([
  'get_app_status',
  'get_auth_proxy_config',
  'get_claim_earn_fees_status',
  'get_earn_deploy_status',
  'get_oauth2_credential',
  'get_tvc_app',
  'get_tvc_deployment',
  'list_tvc_app_deployments',
]);

/** What users do to themselves alone, and need nobody's leave for. */
const OWN_BUSINESS: ReadonlySet<string> = new Set(['create_read_only_session', 'stamp_login']);

const nameOf = ({ path }: Field): string => (path.at(-1) === '0' ? path.at(-2) : path.at(-1)) as string;

/** What a field can name; empty if it names nothing. */
function kindsOf(operation: Operation, field: Field): readonly IdKind[] {
  const { path, shape } = field;
  if (path.length === 1 && path[0] === 'organizationId') return [];
  if (shape.type !== 'string') return [];
  const kinds = KINDS_OF_PLACE[`${operation.name} ${path.join('.')}`] ?? KINDS_OF_FIELD[nameOf(field)];
  const isIdShape = shape.pattern === UUID_PATTERN || shape.pattern === (FingerprintShape as Shape).pattern;
  if (kinds === undefined && (isIdShape || /(?:Ids?|[fF]ingerprint)$/.test(nameOf(field)))) {
    throw new Error(`operation ${operation.name}: id field ${path.join('.')} has no kind`);
  }
  return kinds ?? [];
}

/** Kinds that are written in other ways than as ids of ours. */
const UNKNOWN: Readonly<Partial<Record<IdKind, () => string>>> = {
  fingerprint: () => `sha256:${randomBytes(32).toString('hex')}`,
  credential: () => randomBytes(24).toString('base64url'),
  address: () => `0x${randomBytes(20).toString('hex')}`,
  keyAddress: () => `0x${randomBytes(20).toString('hex')}`,
  earnWrapper: () => `0x${randomBytes(20).toString('hex')}`,
  secretTarget: () => new Receiver().publicKey,
  publicKey: () => newKeyPair().publicKey,
  email: newEmail,
};
const unknownId = (kind: IdKind): string => (UNKNOWN[kind] ?? randomId)();

async function request(
  client: TestClient,
  operation: Operation,
  version: Version,
  parameters: Record<string, unknown>,
  organizationId = client.organizationId,
): Promise<Answer> {
  if (version.type === undefined) return await client.query(operation.name, { ...parameters, organizationId });
  return await client.submit(operation.name, parameters, { type: version.type, organizationId });
}

function expectSuccess(operation: Operation, answer: Answer): void {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  if (operation.kind === 'query') return;
  const status = operation.name === 'reject_activity' ? 'ACTIVITY_STATUS_REJECTED' : 'ACTIVITY_STATUS_COMPLETED';
  expect(answer.body.activity.status).toBe(status);
}

const parametersOf = (version: Version, superset: Record<string, unknown>): Record<string, unknown> =>
  prune(version.shape, superset) as Record<string, unknown>;

function runsIn(operation: Operation, { scope }: Tenant): boolean {
  if (operation.kind !== 'activity') return scope === 'parent' || !OF_PARENTS.has(operation.name);
  return operation.scope === 'any' || operation.scope === scope;
}

/** Lists of assets and vaults that the operator configured, whose cursors are no secret. */
const OF_THE_OPERATOR = new Set([
  'get_wallet_address_balances',
  'list_earn_enabled_vaults',
  'list_earn_positions',
  'list_earn_vaults',
  'list_supported_assets',
]);

/** The answer to a request in an organization in which there may be no such thing. */
function expectWorks(operation: Operation, tenant: Tenant, answer: Answer): void {
  if (runsIn(operation, tenant)) expectSuccess(operation, answer);
  else if (operation.kind === 'activity') expectRefusal(answer, 'INVALID_ACTIVITY_CALLER');
  else expectNotFound(answer);
}

function expectNotFound(answer: Answer): void {
  expectRefusal(answer);
  expect(answer.status).toBe(404);
}

/**
 * Whether the id of the other organization is no wall: for parents in their children, or because it leads back home.
 */
const isLetIn = (operation: Operation, relation: Relation): boolean =>
  (relation === 'child' && PARENT_RUN.has(operation.name)) ||
  (relation === 'parent' && operation.kind === 'activity' && operation.findsSubOrganization);

test('the table names operations that exist', () => {
  const names = operations.map((operation) => operation.name);
  expect(casedOperations().filter((name) => !names.includes(name))).toEqual([]);
});

describe.each(DATABASES)('tenant isolation on %s', (database) => {
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

  /**
   * A right that the operation itself refuses is recorded in the organization of the user who asked, and nowhere else.
   */
  const isOwnRecord =
    (operation: Operation, { ids }: Tenant) =>
    (line: string): boolean =>
      /^(init_)?import_(wallet|private_key)$/.test(operation.name) &&
      /^\+ (activity|vote|webhook_event|webhook_delivery) /.test(line) &&
      line.includes(ids.organization);

  // Who stands where to whom is judged before the database is asked, so that one relation is enough on the second one.
  const inOneTree = ['a parent against its sub-organization', 'a sub-organization against its parent'];
  const acrossTrees = [
    'a parent against another parent',
    'a sub-organization against another parent',
    'a parent against the child of another',
  ];
  const onAll = [...inOneTree, ...acrossTrees];
  describe.each(['a sub-organization against its sibling', ...(database === 'sqlite' ? onAll : [])])('%s', (name) => {
    const pair = (): Pair => pairs[name] as Pair;

    // On the second database every third operation, because the stores behind them are alike; and across trees each
    // operation in one of the three relations, because none of them knows another tree.
    const across = acrossTrees.indexOf(name);
    const part = database === 'sqlite' ? across : 0;
    const asked = operations.filter((_operation, index) => part === -1 || index % 3 === part);

    test.each(asked.map((operation) => [operation.name, operation] as const))('%s', async (_name, operation) => {
      const { attacker, victim, versions } = pair();
      for (const version of versionsOf(operation).slice(0, versions === 'all' ? undefined : 1)) {
        await showItWorks(operation, version, attacker);
        const own = await caseFor(operation.name, attacker, version.type);
        const victims = parametersOf(version, (await caseFor(operation.name, victim, version.type)).parameters);
        await expectNoChange(
          async () => {
            if (!isLetIn(operation, pair().relation)) await attackOrganization(operation, version, pair(), victims);
            await attackFields(operation, version, pair(), own);
            await attackCursors(operation, version, pair());
            await attackWithOtherStamps(operation, pair());
          },
          isOwnRecord(operation, attacker),
        );
        await attackUnreadFields(operation, version, pair());
        if (isLetIn(operation, pair().relation)) await useOpenDoor(operation, version, pair(), victims);
      }
    });
  });

  test('what is written is seen, and what is read is not', async () => {
    const watch = await world.watch();
    await first.root.query('whoami');
    expect(await watch.changes()).toEqual([]);
    await first.root.run('update_user_name', { userId: first.second.userId, userName: `${first.marker} seen` });
    const changes = await watch.changes();
    for (const row of [/^- app_user /, /^\+ app_user .* seen"/, /^\+ activity /, /^\+ vote /])
      expect(changes).toContainEqual(expect.stringMatching(row));
  });

  /** The same request without the attack. */
  async function showItWorks(operation: Operation, version: Version, attacker: Tenant): Promise<void> {
    const own = await caseFor(operation.name, attacker, version.type);
    const answer = await request(own.client, operation, version, parametersOf(version, own.parameters));
    expectWorks(operation, own.client === attacker.root ? attacker : first, answer);
  }

  /** The attacker's key under the victim's organization id, with parameters that are right there. */
  async function attackOrganization(
    operation: Operation,
    version: Version,
    { relation, attacker, victim }: Pair,
    parameters: Record<string, unknown>,
  ): Promise<void> {
    const answer = await request(attacker.root, operation, version, parameters, victim.ids.organization);
    if (relation === 'child') {
      // Parents read their children and change nothing in them but by the logins of their users
      // (protocol/consensus 5.2).
      if (operation.kind === 'query') expectWorks(operation, victim, answer);
      else expectRefusal(answer, 'ORGANIZATION_MISMATCH');
      return;
    }
    expect(JSON.stringify(answer.body)).not.toContain(victim.marker);
    if (relation === 'parent' && operation.kind === 'query' && operation.findsSubOrganization) {
      expect(answer.body).toMatchObject({ organizationId: attacker.ids.organization, userId: attacker.root.userId });
      return;
    }
    expectRefusal(answer, 'PUBLIC_KEY_NOT_FOUND');
  }

  /** What is let in does what its sender may do, and touches nobody else. */
  async function useOpenDoor(
    operation: Operation,
    version: Version,
    { relation, attacker, victim }: Pair,
    parameters: Record<string, unknown>,
  ): Promise<void> {
    const watch = await world.watch();
    const organizationId = victim.ids.organization;
    if (relation === 'parent') {
      // The key leads home, where ids of the victim's are unknown.
      const answer = await request(attacker.root, operation, version, parameters, organizationId);
      if (answer.status === 200) expect(answer.body.activity.organizationId).toBe(attacker.ids.organization);
      else expectRefusal(answer, 'RESOURCE_NOT_FOUND');
      expect(JSON.stringify(answer.body)).not.toContain(victim.marker);
      expectChangedOnly(await watch.changes(), [attacker]);
      return;
    }
    const powerless = await request(attacker.member, operation, version, parameters, organizationId);
    expectRefusal(powerless, 'REQUEST_NOT_AUTHORIZED');
    const { body } = await request(attacker.root, operation, version, parameters, organizationId);
    expect(body.activity, JSON.stringify(body)).toMatchObject({
      organizationId,
      status: 'ACTIVITY_STATUS_COMPLETED',
      votes: [{ userId: attacker.root.userId }],
    });
    // The parent counts messages and holds what is unique in its tree.
    expectChangedOnly(await watch.changes(), [attacker, victim]);
  }

  function expectChangedOnly(changes: readonly string[], tenants: readonly Tenant[]): void {
    const ids = tenants.map((tenant) => tenant.ids.organization);
    for (const change of changes) {
      const owner = /\["organization_id","([^"]+)"\]/.exec(change)?.[1];
      expect(ids, change).toContain(owner);
    }
  }

  /** The attacker's own request with one id of the victim's: the answer is that for an id nobody has. */
  async function attackFields(
    operation: Operation,
    version: Version,
    { relation, victim }: Pair,
    own: Case,
  ): Promise<void> {
    const parameters = parametersOf(version, own.parameters);
    for (const field of fieldsOf(version.shape)) {
      const where = field.path.join('.');
      const kinds = kindsOf(operation, field).filter((kind) => !isShared(kind, relation));
      if (kinds.length === 0 || UNREAD_FIELDS.has(where)) continue;
      if (read(parameters, field.path) === undefined) {
        throw new Error(`operation ${operation.name}: the table gives no value for ${where}`);
      }
      for (const [kind, place] of kinds.flatMap((kind) =>
        placesOf(field, parameters).map((at) => [kind, at] as const),
      )) {
        const foreign = await request(own.client, operation, version, place(victim.ids[kind]));
        const unknown = await request(own.client, operation, version, place(unknownId(kind)));
        expectRefusal(unknown);
        if (relation === 'child' && operation.name === 'get_activity') {
          // The one id that a parent may use without saying where it belongs (protocol/activities 3.5).
          expect(foreign.body.activity.organizationId).toBe(victim.ids.organization);
          continue;
        }
        expect(outward(foreign), `${where} tells a foreign id from an unknown one`).toEqual(outward(unknown));
        expect(JSON.stringify(foreign.body)).not.toContain(victim.marker);
      }
    }
  }

  /** A parent's session profiles and wrappers are those of its whole tree. */
  const isShared = (kind: IdKind, relation: Relation): boolean =>
    (kind === 'sessionProfile' || kind === 'earnWrapper') && relation !== 'stranger';

  /** An id instead of the field's own; in a list also beside it. */
  function placesOf(field: Field, parameters: Record<string, unknown>): ((id: string) => Record<string, unknown>)[] {
    const replace = (id: string) => withValue(parameters, field.path, id);
    if (field.path.at(-1) !== '0') return [replace];
    const list = field.path.slice(0, -1);
    return [replace, (id) => withValue(parameters, list, [...(read(parameters, list) as string[]), id])];
  }

  /** What nothing reads does nothing to its owner either. */
  async function attackUnreadFields(operation: Operation, version: Version, { attacker, victim }: Pair): Promise<void> {
    for (const field of fieldsOf(version.shape).filter(({ path }) => UNREAD_FIELDS.has(path.join('.')))) {
      const own = await caseFor(operation.name, attacker, version.type);
      const parameters = withValue(parametersOf(version, own.parameters), field.path, victim.ids.user);
      const watch = await world.watch();
      expectSuccess(operation, await request(own.client, operation, version, parameters));
      for (const change of await watch.changes()) {
        expect(change).not.toContain(`["organization_id","${victim.ids.organization}"]`);
      }
    }
  }

  async function attackCursors(operation: Operation, version: Version, { attacker, victim }: Pair): Promise<void> {
    if (version.shape.properties?.paginationOptions === undefined) return;
    if (!runsIn(operation, attacker) || !runsIn(operation, victim)) return;
    const parametersFor = async (tenant: Tenant) => {
      const { parameters } = await caseFor(operation.name, tenant);
      return operation.name.endsWith('suborgs') ? {} : parametersOf(version, parameters);
    };
    const own = await parametersFor(attacker);
    const list = (client: TestClient, parameters: Record<string, unknown>, paginationOptions: object) =>
      request(client, operation, version, { ...parameters, paginationOptions });
    const ownPage = await list(attacker.root, own, { limit: '1' });
    expectSuccess(operation, ownPage);
    const victimPage = await list(victim.root, await parametersFor(victim), { limit: '1' });
    const ownCursor: string = ownPage.body.pageInfo.startCursor;
    const victimCursors = [victimPage.body.pageInfo.startCursor, victim.ids.organization, victim.ids.user];
    for (const side of ['after', 'before']) {
      if (ownCursor !== '') expectSuccess(operation, await list(attacker.root, own, { [side]: ownCursor }));
      const unknown = await list(attacker.root, own, { [side]: randomId() });
      expectRefusal(unknown, 'REQUEST_INVALID');
      for (const cursor of victimCursors.filter((id) => id !== '' && !mayBeCursor(operation, attacker, id))) {
        const foreign = await list(attacker.root, own, { [side]: cursor });
        expect(outward(foreign)).toEqual(outward(unknown));
      }
    }
  }

  /**
   * The children of a parent are what it lists, a tree has the same session profiles everywhere, all the same vaults.
   */
  const mayBeCursor = (operation: Operation, attacker: Tenant, id: string): boolean =>
    (operation.name.endsWith('suborgs') &&
      attacker === parent &&
      [first, second].some((child) => child.ids.organization === id)) ||
    (operation.name === 'get_session_profiles' && attacker.ids.sessionProfile === id) ||
    (OF_THE_OPERATOR.has(operation.name) && !isUuid(id));

  /** Passkeys and read-only sessions are held to the same borders. */
  async function attackWithOtherStamps(operation: Operation, { relation, attacker, victim }: Pair): Promise<void> {
    if (operation.kind !== 'query' || relation === 'child') return;
    const [version] = versionsOf(operation) as [Version];
    const body = async (tenant: Tenant) =>
      JSON.stringify({
        ...parametersOf(version, (await caseFor(operation.name, tenant)).parameters),
        organizationId: tenant.ids.organization,
      });
    const [own, victims] = [await body(attacker), await body(victim)];
    const path = pathOf(operation);
    for (const sender of [withPasskey, withSession]) {
      expectWorks(operation, attacker, await sender(attacker, path, own));
      const answer = await sender(attacker, path, victims);
      expect(JSON.stringify(answer.body)).not.toContain(victim.marker);
      if (relation === 'parent' && operation.findsSubOrganization && sender === withPasskey) {
        expect(answer.body.organizationId).toBe(attacker.ids.organization);
      } else expectRefusal(answer, sender === withPasskey ? 'CREDENTIAL_NOT_FOUND' : 'UNAUTHENTICATED');
    }
  }

  test('a user without rights leaves a refusal in its own organization and nothing else', async () => {
    const requests: (readonly [ActivityOperation, Version, Record<string, unknown>])[] = [];
    for (const operation of activities.filter(({ name }) => !OWN_BUSINESS.has(name))) {
      const [version] = versionsOf(operation) as [Version];
      const { parameters } = await caseFor(operation.name, second);
      requests.push([operation, version, parametersOf(version, parameters)]);
    }
    const watch = await world.watch();
    for (const [operation, version, parameters] of requests) {
      const answer = await request(first.member, operation, version, parameters);
      // What a request is about is looked up before anybody is asked; what is foreign is then simply not there.
      const isLookedUp = operation.describe && UNKNOWN_THINGS.has(answer.body.errorCode);
      const denied = isLookedUp ? answer.body.errorCode : 'REQUEST_NOT_AUTHORIZED';
      expectRefusal(answer, runsIn(operation, first) ? denied : 'INVALID_ACTIVITY_CALLER');
    }
    for (const change of await watch.changes()) {
      expect(change).toMatch(/^\+ (?:activity|vote|policy_evaluation) /);
      expect(change).toContain(`["organization_id","${first.ids.organization}"]`);
    }
  });

  test('what is a user’s own business changes its own organization and no other', async () => {
    for (const operation of activities.filter(({ name }) => OWN_BUSINESS.has(name))) {
      const [version] = versionsOf(operation) as [Version];
      const { parameters } = await caseFor(operation.name, second);
      const watch = await world.watch();
      expectSuccess(operation, await request(first.member, operation, version, parametersOf(version, parameters)));
      expectChangedOnly(await watch.changes(), [first]);
    }
  });

  test('a signature holds for one organization id', async () => {
    const body = JSON.stringify({ organizationId: first.ids.organization });
    const headers = { 'x-stamp': stampFor(Buffer.from(body), first.root.key) };
    const path = '/public/v1/query/get_organization';
    expect((await send(first.root.baseUrl, path, body, headers)).status).toBe(200);
    await expectNoChange(async () => {
      for (const { ids } of [second, parent, other]) {
        const moved = JSON.stringify({ organizationId: ids.organization });
        expectRefusal(await send(first.root.baseUrl, path, moved, headers), 'PUBLIC_KEY_NOT_FOUND');
      }
      // The parent's key is known in the child, so there only the signature stands in the way.
      const parents = JSON.stringify({ organizationId: parent.ids.organization });
      const stamp = { 'x-stamp': stampFor(Buffer.from(parents), parent.root.key) };
      expect((await send(first.root.baseUrl, path, parents, stamp)).status).toBe(200);
      expectRefusal(await send(first.root.baseUrl, path, body, stamp), 'SIGNATURE_INVALID');
    });
  });

  test('a captured submit runs under its own path only', async () => {
    const { client, parameters } = await caseFor('update_user_name', second);
    const body = client.submitBody('update_user_name', parameters);
    const headers = { 'x-stamp': stampFor(Buffer.from(body), client.key) };
    const done = await send(client.baseUrl, '/public/v1/submit/update_user_name', body, headers);
    expect(done.body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    await expectNoChange(async () => {
      for (const operation of operations.filter(({ name }) => name !== 'update_user_name')) {
        expectRefusal(await send(client.baseUrl, pathOf(operation), body, headers), 'REQUEST_INVALID');
      }
    });
  });

  test('a captured query never becomes a submit', async () => {
    const captured: (readonly [TestClient, string, Record<string, string>])[] = [];
    // Which path takes which body is judged before a database is asked.
    for (const query of database === 'sqlite' ? queries : queries.slice(0, 1)) {
      const { client, parameters } = await caseFor(query.name, runsIn(query, second) ? second : parent);
      const body = JSON.stringify({ organizationId: client.organizationId, ...parameters });
      const headers = { 'x-stamp': stampFor(Buffer.from(body), client.key) };
      expect((await send(client.baseUrl, pathOf(query), body, headers)).status).toBe(200);
      captured.push([client, body, headers]);
    }
    // Every body on some paths, every path with some body: a path does not know which query a body was for.
    const submits = operations.filter(({ kind }) => kind !== 'query');
    await expectNoChange(() =>
      inParallel([...captured.entries()], async ([turn, [{ baseUrl }, body, headers]]) => {
        for (const operation of submits.filter((_operation, index) => index % captured.length === turn)) {
          expectRefusal(await send(baseUrl, pathOf(operation), body, headers), 'REQUEST_INVALID');
        }
      }),
    );
  });

  test('a captured submit replayed on its own path does nothing again', async () => {
    const { client, parameters } = await caseFor('create_users', second);
    const body = client.submitBody('create_users', parameters);
    const firstTime = await client.sendStamped('/public/v1/submit/create_users', body);
    expect(firstTime.body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    const again = await expectNoChange(() => client.sendStamped('/public/v1/submit/create_users', body));
    expect(again.body.activity.id).toBe(firstTime.body.activity.id);
    // Under another organization the same bytes are nobody's: the id is inside them.
    await expectNoChange(async () =>
      expectRefusal(await first.root.sendStamped('/public/v1/submit/create_users', body), 'PUBLIC_KEY_NOT_FOUND'),
    );
  });

  test.each(['approve_activity', 'reject_activity'])('%s finds no activity of another organization', async (vote) => {
    for (const [voter, target] of [
      [first, second],
      [first, parent],
      [parent, first],
      [other, parent],
    ] as const) {
      const own = await caseFor(vote, voter);
      expect((await voter.root.submit(vote, own.parameters)).status).toBe(200);
      const { fingerprint } = (await caseFor(vote, target)).parameters;
      await expectNoChange(async () =>
        expectRefusal(await voter.root.submit(vote, { fingerprint }), 'ACTIVITY_NOT_FOUND'),
      );
      // The activity still waits for those it belongs to.
      expect((await target.root.submit(vote, { fingerprint })).status).toBe(200);
    }
  });

  test('the same bytes stamped by another tenant approve nothing', async () => {
    const { root, second: proposer } = second;
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, proposer.userId] });
    const body = proposer.submitBody('update_user_name', { userId: proposer.userId, userName: 'by two' });
    const path = '/public/v1/submit/update_user_name';
    const pending = await proposer.sendStamped(path, body);
    expect(pending.body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    await expectNoChange(async () => {
      expectRefusal(await first.root.sendStamped(path, body), 'PUBLIC_KEY_NOT_FOUND');
      expectRefusal(await other.root.sendStamped(path, body), 'PUBLIC_KEY_NOT_FOUND');
      expectRefusal(await parent.root.sendStamped(path, body), 'ORGANIZATION_MISMATCH');
    });
    expect((await root.sendStamped(path, body)).body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    const back = await root.submit('update_root_quorum', { threshold: 1, userIds: [root.userId] });
    await proposer.submit('approve_activity', { fingerprint: back.body.activity.fingerprint });
  });

  test('a parent finds its own children by what they hold, and nobody else does', async () => {
    const { body } = await second.root.query('get_user', { userId: second.second.userId });
    const held = {
      NAME: (await second.root.query('whoami')).body.organizationName,
      USERNAME: body.user.userName,
      EMAIL: body.user.userEmail,
      PHONE_NUMBER: body.user.userPhoneNumber,
      CREDENTIAL_ID: second.passkey.credentialId,
      PUBLIC_KEY: second.root.key.publicKey,
      WALLET_ACCOUNT_ADDRESS: second.ids.address,
      OIDC_TOKEN: world.outside.idToken(second.marker),
    };
    for (const [filterType, filterValue] of Object.entries(held)) {
      const mine = await parent.root.query('list_suborgs', { filterType, filterValue });
      expect(mine.body.organizationIds, filterType).toContain(second.ids.organization);
      for (const stranger of [other, othersChild, first]) {
        const theirs = await stranger.root.query('list_suborgs', { filterType, filterValue });
        expect(theirs.body.organizationIds).toEqual([]);
      }
    }
    const all = await other.root.query('list_suborgs');
    expect(all.body.organizationIds).toContain(othersChild.ids.organization);
    expect(all.body.organizationIds).not.toContain(second.ids.organization);
  });

  test('the IP allowlist of a key is for its own organization to read and remove', async () => {
    for (const [attacker, victim] of [
      [first, second],
      [first, parent],
      [parent, first],
      [other, parent],
    ] as const) {
      const { publicKey } = victim.ids;
      const read = async ({ root }: Tenant) => (await root.query('get_ip_allowlist', { publicKey })).body.allowlist;
      const before = await read(victim);
      expect(before.rules).toMatchObject([{ label: `${victim.marker} network` }]);
      expect(await read(attacker)).toEqual({ ...before, organizationId: attacker.ids.organization, rules: [] });
      // To remove what is not there is no error, and no removal.
      await attacker.root.run('remove_ip_allowlist', { publicKey });
      expect(await read(victim)).toEqual(before);
    }
  });

  test('a verification token serves where it was issued, and a parent’s in its tree', async () => {
    const email = newEmail();
    const person = await createUser(first.root, 'with one address', { userEmail: email });
    for (const [issuer, serves] of [
      [first, true],
      [parent, true],
      [second, false],
      [other, false],
      [othersChild, false],
    ] as const) {
      const { body } = await first.root.submit('otp_login', await newLogin(issuer.root, email));
      if (serves) expect(body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      else expect(body.errorCode).toBe('INVALID_VERIFICATION_TOKEN');
      const verificationToken = await newVerification(issuer.root, newKeyPair(), email);
      const proven = { userId: person.userId, userEmail: email, verificationToken };
      const change = await first.root.submit('update_user_email', proven);
      if (serves) expect(change.status).toBe(200);
      else expectRefusal(change, 'INVALID_VERIFICATION_TOKEN');
    }
  });

  test('what became of a mail is for the organization that sent it, and its parent', async () => {
    const read = async (reader: TestClient, { mailbox, ids }: Tenant, organizationId = reader.organizationId) => {
      const { body } = await reader.query('list_email_events', { email: mailbox, eventType: 'sent', organizationId });
      return body.emailEvents.map((event: { organizationId: string }) => event.organizationId === ids.organization);
    };
    for (const [reader, sender] of [
      [first, second],
      [first, parent],
      [parent, first],
      [other, parent],
    ] as const) {
      expect(await read(sender.root, sender)).toEqual([true]);
      expect(await read(reader.root, sender)).toEqual([]);
    }
    expect(await read(parent.root, first, first.ids.organization)).toEqual([true]);
  });

  test('webhooks tell an organization and its parent what happens in it, and nobody else', async () => {
    const { received } = world.outside;
    const tenants = [parent, first, second, other, othersChild];
    const all = { eventType: 'ACTIVITY_UPDATES' };
    const listen = async ({ root }: Tenant, name: string, subscription: Record<string, unknown>) => {
      const parameters = { url: world.outside.hook(name), name, subscriptions: [subscription] };
      return [root, (await root.run('create_webhook_endpoint', parameters)).endpointId] as const;
    };
    const secret = `told ${randomUUID()}`;
    const names = () => received.filter(({ body }) => body.includes(secret)).map(({ name }) => name);
    const endpoints: (readonly [TestClient, string])[] = [];
    try {
      for (const tenant of tenants) endpoints.push(await listen(tenant, `all of ${tenant.marker}`, all));
      // To name an organization in a filter opens nothing.
      const seconds = JSON.stringify({ organizationIds: [second.ids.organization] });
      for (const tenant of [first, other, othersChild]) {
        endpoints.push(await listen(tenant, `seconds for ${tenant.marker}`, { ...all, filtersJson: seconds }));
      }
      endpoints.push(await listen(parent, 'seconds for its parent', { ...all, filtersJson: seconds }));
      await second.root.run('update_user_name', { userId: second.second.userId, userName: secret });
      await world.settle();
      expect(names().sort()).toEqual(
        [`all of ${parent.marker}`, `all of ${second.marker}`, 'seconds for its parent'].sort(),
      );
      for (const { root, ids } of tenants) {
        const { webhookDeliveries } = (await root.query('list_webhook_deliveries')).body;
        const about = new Set(webhookDeliveries.map((delivery: { organizationId: string }) => delivery.organizationId));
        const tree = root === parent.root ? [first, second] : root === other.root ? [othersChild] : [];
        for (const child of tree) about.delete(child.ids.organization);
        expect([...about]).toEqual([ids.organization]);
      }
    } finally {
      for (const [root, endpointId] of endpoints) await root.run('delete_webhook_endpoint', { endpointId });
    }
  });

  test('deliveries are for the organization that they go to, and its parent', async () => {
    const read = async (reader: TestClient, { ids }: Tenant, organizationId = reader.organizationId) => {
      const { body } = await reader.query('list_webhook_deliveries', { eventId: ids.webhookEvent, organizationId });
      return body.webhookDeliveries.map(({ deliveryId }: { deliveryId: string }) => deliveryId);
    };
    for (const [reader, owner] of [
      [first, second],
      [first, parent],
      [parent, first],
      [other, parent],
    ] as const) {
      expect(await read(owner.root, owner)).toEqual([owner.ids.webhookDelivery]);
      expect(await read(reader.root, owner)).toEqual([]);
      // All that failed since ever, of an endpoint of others and of their own one.
      const replay = (endpointId: string) =>
        reader.root.submit('replay_webhook_delivery', { endpointId, sinceMs: '0' });
      expect((await replay(reader.ids.webhookEndpoint)).status).toBe(200);
      const foreign = await expectNoChange(() => replay(owner.ids.webhookEndpoint));
      expectRefusal(foreign, 'WEBHOOK_ENDPOINT_NOT_FOUND');
      expect(outward(foreign)).toEqual(outward(await replay(randomId())));
    }
    expect(await read(parent.root, first, first.ids.organization)).toEqual([first.ids.webhookDelivery]);
  });

  test('nothing is sent to an endpoint for somebody who may not', async () => {
    const { received } = world.outside;
    const name = `${second.marker} hook`;
    const count = () => received.filter((one) => one.name === name).length;
    const send = ({ root, member }: Tenant, sender: 'root' | 'member') =>
      (sender === 'root' ? root : member).submit('test_webhook_endpoint', { endpointId: second.ids.webhookEndpoint });
    const before = count();
    expect((await send(second, 'root')).status).toBe(200);
    expect(count()).toBe(before + 1);
    expectRefusal(await send(second, 'member'), 'REQUEST_NOT_AUTHORIZED');
    for (const tenant of [first, parent, other])
      expectRefusal(await send(tenant, 'root'), 'WEBHOOK_ENDPOINT_NOT_FOUND');
    expect(count()).toBe(before + 1);
  });

  test.each(['create_fiat_on_ramp_credential', 'create_oauth2_credential'])(
    '%s takes no secret that another organization has sent',
    async (operation) => {
      const { parameters } = await caseFor(operation, parent);
      expect((await parent.root.submit(operation, parameters)).status).toBe(200);
      const secret = 'encryptedClientSecret' in parameters ? String(parameters.encryptedClientSecret) : '';
      const stolen = { ...parameters, ...(secret !== '' && { clientId: randomUUID() }) };
      const spellings = secret === '' ? [stolen] : [stolen, { ...stolen, encryptedClientSecret: secret.toUpperCase() }];
      for (const spelling of spellings) {
        const refused = await expectNoChange(() => other.root.submit(operation, spelling));
        expectRefusal(refused, 'INVALID_BUNDLE');
        expect((await parent.root.submit(operation, { ...spelling, clientId: randomUUID() })).status).toBe(200);
      }
      const own = await caseFor(operation, other);
      expect((await other.root.submit(operation, own.parameters)).status).toBe(200);
    },
  );

  test('a session profile serves the tree of its parent and no other', async () => {
    const status = async ({ root }: Tenant, { ids }: Tenant) =>
      (await root.query('get_session_profile', { sessionProfileId: ids.sessionProfile })).status;
    for (const tenant of [parent, first, second]) {
      expect(await status(tenant, parent)).toBe(200);
      expect(await status(tenant, other)).toBe(404);
      const { body } = await tenant.root.query('get_session_profiles');
      expect(JSON.stringify(body)).not.toContain(other.marker);
    }
    expect(await status(othersChild, other)).toBe(200);
    expect(await status(othersChild, parent)).toBe(404);
  });

  test('a draft under the id of a policy of another organization stands in for nothing', async () => {
    const { parameters } = await caseFor('simulate_activity', first);
    const asks = async (policyId: string) => {
      const draftPolicies = [{ policyId, effect: 'EFFECT_DENY', condition: 'false' }];
      return await first.root.query('simulate_activity', { ...parameters, draftPolicies });
    };
    const foreign = await asks(second.ids.policy);
    expect(foreign.status).toBe(400);
    expect(foreign.body).toEqual((await asks(randomUUID())).body);
    expect((await asks(first.ids.policy)).status).toBe(200);
  });

  test("a stranger's key in another organization takes nothing over", async () => {
    const { key, userId } = second.root;
    const apiKeys = [{ apiKeyName: 'not mine', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }];
    await first.root.run('create_api_keys', { userId: first.member.userId, apiKeys });
    await other.root.run('create_api_keys', { userId: other.member.userId, apiKeys });
    const home = { organizationId: second.ids.organization, userId };
    expect((await second.root.query('whoami')).body).toMatchObject(home);
    const viaParent = await second.root.query('whoami', { organizationId: parent.ids.organization });
    expect(viaParent.body).toMatchObject(home);
    await second.root.run('update_user_name', { userId: second.second.userId, userName: 'still mine' });
    // The holder of the key is a user of the other organization now, with the rights of the user it was given to.
    const there = await send(
      first.root.baseUrl,
      '/public/v1/query/whoami',
      ...stamped(second.root, JSON.stringify({ organizationId: first.ids.organization })),
    );
    expect(there.body).toMatchObject({ organizationId: first.ids.organization, userId: first.member.userId });
  });

  test('a read-only session reads its own organization and writes nothing', async () => {
    const path = '/public/v1/submit/update_user_name';
    const { parameters } = await caseFor('update_user_name', first);
    const body = first.root.submitBody('update_user_name', parameters);
    expect((await first.root.sendStamped(path, body)).status).toBe(200);
    const next = first.root.submitBody('update_user_name', parameters);
    await expectNoChange(async () => expectRefusal(await withSession(first, path, next), 'UNAUTHENTICATED'));
  });

  test('a deleted sub-organization answers none of its credentials', async () => {
    const gone = await world.addSubOrganization(parent, 'gone');
    const requests: (readonly [Operation, Version, Record<string, unknown>])[] = [];
    for (const operation of operations) {
      for (const version of versionsOf(operation).slice(0, database === 'sqlite' ? undefined : 1)) {
        const { parameters } = await caseFor(operation.name, gone, version.type);
        requests.push([operation, version, parametersOf(version, parameters)]);
      }
    }
    await gone.root.run('delete_sub_organization', { deleteWithoutExport: true });
    await expectNoChange(async () => {
      for (const [turn, [operation, version, parameters]] of requests.entries()) {
        const body =
          version.type === undefined ? JSON.stringify({ ...parameters, organizationId: gone.ids.organization }) : '';
        // That the organization is gone is seen before anybody asks which of its users it is.
        const users = [gone.root, gone.second, gone.member];
        for (const client of users.filter((_user, index) => index === turn % users.length)) {
          expectRefusal(await request(client, operation, version, parameters), 'ORGANIZATION_NOT_FOUND');
          const viaParent = await request(client, operation, version, parameters, parent.ids.organization);
          expectRefusal(viaParent, 'PUBLIC_KEY_NOT_FOUND');
        }
        // Its parent reads what is left, and still writes nothing.
        const byParent = await request(parent.root, operation, version, parameters, gone.ids.organization);
        // To a simulation a submitter who is gone is a wrong field.
        if (operation.name === 'simulate_activity') expectRefusal(byParent, 'REQUEST_INVALID');
        else if (operation.kind === 'query') expect([200, 404]).toContain(byParent.status);
        else expectRefusal(byParent, 'ORGANIZATION_NOT_FOUND');
        expectRefusal(
          await request(other.root, operation, version, parameters, gone.ids.organization),
          'ORGANIZATION_NOT_FOUND',
        );
        if (operation.kind !== 'query') continue;
        for (const sender of [withPasskey, withSession]) {
          expectRefusal(await sender(gone, pathOf(operation), body), 'ORGANIZATION_NOT_FOUND');
        }
      }
    });
    expect((await parent.root.query('list_suborgs')).body.organizationIds).not.toContain(gone.ids.organization);
  });

  test('the feature of one parent does not govern the passkeys of another', async () => {
    const feature = { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://elsewhere.example' };
    const body = JSON.stringify({ organizationId: first.ids.organization });
    const path = '/public/v1/query/whoami';
    await other.root.run('set_organization_feature', feature);
    expect((await withPasskey(first, path, body)).status).toBe(200);
    await parent.root.run('set_organization_feature', feature);
    expectRefusal(await withPasskey(first, path, body), 'SIGNATURE_INVALID');
    for (const { root } of [other, parent]) await root.run('remove_organization_feature', { name: feature.name });
    expect((await withPasskey(first, path, body)).status).toBe(200);
  });

  test('a child with the same ids of its own is not its sibling', async () => {
    const twin = await createSubOrganization(parent.root, 'first');
    const { body } = await twin.query('get_organization');
    expect(JSON.stringify(body)).not.toContain(first.marker);
    expect(body.organizationData.users).toHaveLength(1);
  });

  const stamped = (client: TestClient, body: string) =>
    [body, { 'x-stamp': stampFor(Buffer.from(body), client.key) }] as const;
});

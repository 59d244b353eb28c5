import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { FingerprintShape } from '../../../src/domains/activities/shapes.ts';
import type { Operation } from '../../../src/engine/define.ts';
import { isUuid, randomId, UUID_PATTERN } from '../../../src/lib/ids.ts';
import { operations, pathOf } from '../../../src/registry.ts';
import { newEmail } from '../../fixtures/outside.ts';
import { Receiver } from '../../harness/bundles.ts';
import { type Answer, newKeyPair, type TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { caseFor, casesOf } from '../../operations/all-cases.ts';
import type { Case } from '../../operations/hostile-case.ts';
import type { IdKind, Tenant } from '../../operations/tenant.ts';
import { expectRefusal, outward } from '../answers.ts';
import { type Field, fieldsOf, read, type Shape, type Version, versionsOf, withValue } from '../schema.ts';
import { withPasskey, withSession } from '../world.ts';
import { expectSuccess, openTenants, type Pair, parametersOf, type Relation, request, runsIn } from './support.ts';

/** Which of a tenant's things a field names, where its operation does not say it among its cases. */
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
  recoveryKitId: ['recoveryKit', 'secret'],
  recoveryKitIds: ['recoveryKit', 'secret'],
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

/**
 * Fields whose id nobody looks up: those of older versions that clients send, and the credential that an MFA step waits
 * for.
 */
const UNREAD_FIELDS: ReadonlySet<string> = new Set([
  'users.0.authenticators.0.userId',
  'requiredAuthenticationMethods.0.any.0.id',
]);

const nameOf = ({ path }: Field): string => (path.at(-1) === '0' ? path.at(-2) : path.at(-1)) as string;

/** What a field can name; empty if it names nothing. */
function kindsOf(operation: Operation, field: Field): readonly IdKind[] {
  const { path, shape } = field;
  if (path.length === 1 && path[0] === 'organizationId') return [];
  if (shape.type !== 'string') return [];
  const kinds = casesOf(operation.name).ids?.[path.join('.')] ?? KINDS_OF_FIELD[nameOf(field)];
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
  (relation === 'child' && operation.kind === 'activity' && operation.parentRuns) ||
  (relation === 'parent' && operation.kind === 'activity' && operation.findsSubOrganization);
describe.each(DATABASES)('tenant isolation on %s', (database) => {
  const suite = openTenants(database);
  const { expectChangedOnly, expectNoChange } = suite;

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
    const pair = (): Pair => suite.pairs[name] as Pair;

    // On the second database every third operation, because the stores behind them are alike; and across trees each
    // operation in one of the three relations, because none of them knows another tree.
    const across = acrossTrees.indexOf(name);
    const part = database === 'sqlite' ? across : 0;
    const asked = operations
      .filter((_operation, index) => part === -1 || index % 3 === part)
      .filter(({ name: operation }) => !casesOf(operation).isOfOperator);

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
    const watch = await suite.world.watch();
    await suite.first.root.query('whoami');
    expect(await watch.changes()).toEqual([]);
    await suite.first.root.run('update_user_name', {
      userId: suite.first.second.userId,
      userName: `${suite.first.marker} seen`,
    });
    const changes = await watch.changes();
    for (const row of [/^- app_user /, /^\+ app_user .* seen"/, /^\+ activity /, /^\+ vote /])
      expect(changes).toContainEqual(expect.stringMatching(row));
  });

  /** The same request without the attack. */
  async function showItWorks(operation: Operation, version: Version, attacker: Tenant): Promise<void> {
    const own = await caseFor(operation.name, attacker, version.type);
    const answer = await request(own.client, operation, version, parametersOf(version, own.parameters));
    expectWorks(operation, own.client === attacker.root ? attacker : suite.first, answer);
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
      // Parents read their children and change nothing in them but by the logins of their users (protocol/consensus
      // 5.2).
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
    const watch = await suite.world.watch();
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
      const watch = await suite.world.watch();
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
      attacker === suite.parent &&
      [suite.first, suite.second].some((child) => child.ids.organization === id)) ||
    (operation.name === 'get_session_profiles' && attacker.ids.sessionProfile === id) ||
    (casesOf(operation.name).hasPublicCursors === true && !isUuid(id));

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
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPasskey, type Passkey, passkeyStamp } from '../fixtures/passkey.ts';
import { Receiver } from '../harness/bundles.ts';
import { type Answer, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { addPasskey, approve, Caller, COMPLETED, outcome, policyFor, times, UNPROVEN } from './fixtures/access.ts';
import { attested, LoginService, newEmail, openKey, type Person } from './fixtures/logins.ts';

const MINUTE = 60_000;
const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];
const done = (answer: Answer): boolean => answer.status === 200 && answer.body.activity.status === COMPLETED;
const whoami = async (client: TestClient) => outcome(await client.query('whoami'));

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('recovery by mail on %s', (database) => {
  let logins: LoginService;
  let parent: TestClient;

  beforeAll(async () => {
    logins = await LoginService.open(database);
    parent = logins.parent;
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const emailCustomization = { appName: 'App' };
  const init = (client: TestClient, email: string, extra: Record<string, unknown> = {}, version = {}) =>
    client.submit(
      'init_user_email_recovery',
      { email, targetPublicKey: new Receiver().publicKey, emailCustomization, ...extra },
      version,
    );
  const recover = (client: TestClient, userId: string, authenticator: object) =>
    client.submit('recover_user', { userId, authenticator });
  const withPasskey = (client: TestClient, passkey: Passkey) =>
    new Caller(client, { stamp: (body) => ({ 'x-stamp-webauthn': passkeyStamp(body, passkey) }) });

  /** A client of the user that stamps with the key of a mailed recovery. */
  async function begin(
    { byParent, user, email }: Person,
    extra: Record<string, unknown> = {},
    userId = user.userId,
  ): Promise<Caller> {
    const receiver = new Receiver();
    const answer = await init(byParent, email, { targetPublicKey: receiver.publicKey, ...extra });
    expect(answer.body.activity.result).toEqual({ initUserEmailRecoveryResult: { userId } });
    return user.as(openKey(receiver, await logins.bundle(email)), userId);
  }
  const recoveryKeys = async (user: TestClient) => {
    const { apiKeys } = (await user.query('get_api_keys', { userId: user.userId })).body;
    return apiKeys.filter(
      ({ credential }: { credential: { type: string } }) => credential.type === 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256',
    );
  };

  test('a mail leads to a new passkey, and is over with it', async () => {
    const person = await logins.newPerson();
    const { user, byParent, email } = person;
    const receiver = new Receiver();
    const answer = await init(byParent, email, {
      targetPublicKey: receiver.publicKey,
      emailCustomization: { appName: 'Bank', magicLinkTemplate: 'https://app.example/recover#%s' },
    });
    expect(outcome(answer)).toEqual([200, COMPLETED]);
    const message = await logins.message(email);
    expect(message.subject).toContain('Bank');
    const bundle = /recover#([1-9A-HJ-NP-Za-km-z]+)$/m.exec(message.text)?.[1] as string;
    logins.secrets.add(bundle);
    expect(JSON.stringify(answer.body)).not.toContain(bundle);
    expect(await recoveryKeys(user)).toHaveLength(1);

    const recovery = user.as(openKey(receiver, bundle), user.userId);
    const { passkey, registration } = newPasskey('New device');
    const recovered = await recover(recovery, user.userId, registration);
    expect(outcome(recovered)).toEqual([200, COMPLETED]);
    const { authenticatorId } = recovered.body.activity.result.recoverUserResult;
    expect(authenticatorId).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect((await withPasskey(user, passkey).query('whoami')).body.userId).toBe(user.userId);
    expect(await recoveryKeys(user)).toEqual([]);
    expect(outcome(await recover(recovery, user.userId, newPasskey('Another').registration))).toEqual([
      401,
      'PUBLIC_KEY_NOT_FOUND',
    ]);
  });

  test('the older version needs no name of an application', async () => {
    const { byParent, email } = await logins.newPerson();
    const type = { type: 'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY' };
    expect(done(await init(byParent, email, { emailCustomization: null }, type))).toBe(true);
    expect((await logins.message(email)).subject).toBe('Recover your account');
    expect(outcome(await init(byParent, email, { emailCustomization: null }))).toEqual([400, 'REQUEST_INVALID']);
  });

  test('its key does nothing else, whoever the user is', async () => {
    const person = await logins.newPerson();
    const { user } = person;
    const recovery = await begin(person);
    const { registration } = newPasskey('Passkey');
    const key = newKeyPair();
    const pending = await createUser(user, 'pending');
    const attempts: [string, object][] = [
      ['create_user_tag', { userTagName: 'tag', userIds: [] }],
      ['create_authenticators', { userId: user.userId, authenticators: [registration] }],
      [
        'create_api_keys',
        {
          userId: user.userId,
          apiKeys: [{ apiKeyName: 'a', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        },
      ],
      ['stamp_login', { publicKey: newKeyPair().publicKey }],
      ['create_read_only_session', {}],
      ['create_read_write_session', { targetPublicKey: new Receiver().publicKey }],
      ['approve_activity', { fingerprint: 'sha256:0' }],
      ['delete_users', { userIds: [pending.userId] }],
    ];
    for (const [operation, parameters] of attempts) {
      expect(outcome(await recovery.submit(operation, parameters)), operation).toEqual(DENIED);
    }
    expect(await whoami(recovery)).toEqual(DENIED);
    // Through the parent's id it is no more than here.
    const above = logins.client(parent.organizationId, recovery.key, user.userId);
    expect(outcome(await above.submit('stamp_login', { publicKey: key.publicKey }))).toEqual(DENIED);
    expect((await recover(above, user.userId, registration)).status).toBe(401);
    expect(done(await recover(recovery, user.userId, registration))).toBe(true);
    // The user's own key may do all of it, so that it was the recovery key that was refused.
    for (const [operation, parameters] of attempts.filter(([name]) => !/approve|authenticators/.test(name))) {
      expect(outcome(await user.submit(operation, parameters)), operation).toEqual([200, COMPLETED]);
    }
  });

  test('its key recovers its own user, and no other', async () => {
    const person = await logins.newPerson();
    const { user } = person;
    const member = await createUser(user, 'member', { userEmail: newEmail() });
    const asMember = {
      ...person,
      email: (await user.query('get_user', { userId: member.userId })).body.user.userEmail,
    };
    const recovery = await begin(asMember, {}, member.userId);
    expect(outcome(await recover(recovery, user.userId, newPasskey('a').registration))).toEqual(DENIED);
    // A policy that allows it does not make one user's recovery another's.
    await policyFor(user, member, { condition: "activity.kind == 'RECOVER_USER'" });
    expect(outcome(await recover(recovery, user.userId, newPasskey('b').registration))).toEqual(DENIED);
    expect(done(await recover(recovery, member.userId, newPasskey('c').registration))).toBe(true);
  });

  test('a key that is used by several at once recovers once', async () => {
    const person = await logins.newPerson();
    const recovery = await begin(person);
    const answers = await Promise.all(
      times(4, (index) => recover(recovery, person.user.userId, newPasskey(`passkey ${index}`).registration)),
    );
    expect(answers.filter(done)).toHaveLength(1);
    const { authenticators } = (await person.user.query('get_authenticators', { userId: person.user.userId })).body;
    expect(authenticators).toHaveLength(1);
  });

  test('a new recovery ends the one before', async () => {
    const person = await logins.newPerson();
    const [first, second] = [await begin(person), await begin(person)];
    expect(await recoveryKeys(person.user)).toHaveLength(1);
    const { registration } = newPasskey('passkey');
    expect(outcome(await recover(first, person.user.userId, registration))).toEqual([401, 'PUBLIC_KEY_NOT_FOUND']);
    expect(done(await recover(second, person.user.userId, registration))).toBe(true);
  });

  test('has an end', async () => {
    const person = await logins.newPerson();
    const long = await begin(person, { expirationSeconds: '1000' });
    logins.advance(16 * MINUTE);
    expect(done(await recover(long, person.user.userId, newPasskey('a').registration))).toBe(true);
    const usual = await begin(person);
    logins.advance(15 * MINUTE);
    const late = await recover(usual, person.user.userId, newPasskey('b').registration);
    expect(outcome(late)).toEqual([401, 'API_KEY_EXPIRED']);
  });

  test('needs a user, the feature under either name, and somebody who may', async () => {
    const { byParent, user, email } = await logins.newPerson();
    expect(outcome(await init(byParent, newEmail()))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    for (const organization of [user, parent]) {
      await logins.turn(organization, 'EMAIL_RECOVERY', 'false');
      const refused = await init(byParent, email);
      expect(outcome(refused)).toEqual([403, 'FEATURE_DISABLED']);
      expect(refused.body.message).toContain('FEATURE_NAME_EMAIL_RECOVERY');
      await logins.turn(organization, 'ROOT_USER_EMAIL_RECOVERY', 'true');
    }
    expect(done(await init(byParent, email))).toBe(true);
    const member = await createUser(user, 'member');
    expect(outcome(await init(member, email))).toEqual(DENIED);
    expect(done(await init(user, email))).toBe(true);
    expect(done(await init(byParent, email))).toBe(true);
    expect(outcome(await init(byParent, email))).toEqual([429, 'MAX_OTP_INITIATED']);
  });

  test('the passkey is verified in full', async () => {
    const person = await logins.newPerson();
    const recovery = await begin(person);
    const { registration } = newPasskey('passkey');
    const attestation = registration.attestation as Record<string, unknown>;
    const other = newPasskey('other').registration;
    for (const changed of [
      { ...registration, challenge: other.challenge },
      { ...registration, attestation: { ...attestation, credentialId: 'AAAA' } },
      { ...registration, attestation: { ...attestation, attestationObject: 'AAAA' } },
      {
        ...registration,
        attestation: { ...attestation, clientDataJson: (other.attestation as typeof attestation).clientDataJson },
      },
    ]) {
      expect(outcome(await recover(recovery, person.user.userId, changed))).toEqual([400, 'INVALID_ATTESTATION']);
    }
    expect(await recoveryKeys(person.user)).toHaveLength(1);
    await logins.turn(parent, 'WEBAUTHN_ORIGINS', 'https://elsewhere.example');
    expect(outcome(await recover(recovery, person.user.userId, registration))[0]).toBe(400);
    await parent.run('remove_organization_feature', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS' });
    expect(done(await recover(recovery, person.user.userId, registration))).toBe(true);
  });

  test('without a recovery key policies decide, and whatever was begun is over', async () => {
    const person = await logins.newPerson();
    const member = await createUser(person.user, 'member');
    const { registration } = newPasskey('passkey');
    await begin(person);
    expect(outcome(await recover(member, person.user.userId, registration))).toEqual(DENIED);
    // Not even for oneself.
    expect(outcome(await recover(member, member.userId, registration))).toEqual(DENIED);
    expect(done(await recover(person.user, person.user.userId, registration))).toBe(true);
    expect(await recoveryKeys(person.user)).toEqual([]);
    const unknown = await recover(person.user, randomUUID(), newPasskey('another').registration);
    expect(outcome(unknown)).toEqual([404, 'RESOURCE_NOT_FOUND']);
  });

  test('MFA policies of the user stay in force, for the recovery and after it', async () => {
    const person = await logins.newPerson();
    const { user, byParent, email } = person;
    const other = await addPasskey(user);
    const { mfaPolicyId } = await user.run('create_mfa_policy', {
      userId: user.userId,
      mfaPolicyName: 'MFA',
      condition: "activity.resource == 'RECOVERY' && activity.action == 'UPDATE'",
      requiredAuthenticationMethods: [
        { any: [{ type: 'AUTHENTICATION_TYPE_EMAIL_OTP' }] },
        { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] },
      ],
      order: 0,
    });
    const recovery = await begin(person);
    const { passkey, registration } = newPasskey('New device');
    const answer = await recover(recovery, user.userId, registration);
    expect(outcome(answer)).toEqual([200, UNPROVEN]);
    const { fingerprint } = answer.body.activity;
    expect(outcome(await approve(recovery, fingerprint))).toEqual(DENIED);
    expect(outcome(await approve(other, fingerprint))).toEqual([200, UNPROVEN]);
    const key = newKeyPair();
    const byCode = attested(user, await logins.verify(byParent, email, key), key);
    expect(outcome(await approve(byCode, fingerprint))).toEqual([200, UNPROVEN]);
    expect((await withPasskey(user, passkey).query('whoami')).status).toBe(401);
    expect(outcome(await approve(other, fingerprint))).toEqual([200, COMPLETED]);
    expect((await withPasskey(user, passkey).query('whoami')).status).toBe(200);
    expect(await recoveryKeys(user)).toEqual([]);
    const { mfaPolicies } = (await user.query('get_mfa_policies', { userId: user.userId })).body;
    expect(mfaPolicies).toMatchObject([{ mfaPolicyId }]);
  });

  test('no bundle is in the database', async () => {
    expect(logins.secrets.size).toBeGreaterThan(8);
    expect(await logins.findSecrets()).toEqual([]);
  });
});

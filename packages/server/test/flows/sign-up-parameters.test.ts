import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { ec, Issuer, toJwk } from '../harness/oidc-issuer.ts';
import { COMPLETED, outcome } from './fixtures/access.ts';
import {
  apiKeyOf,
  boundTo,
  databaseText,
  idToken,
  LOOPBACK,
  rootUser,
  signedSignUp,
  signUp,
  signUpParams,
  startKnownIssuer,
  verificationToken,
} from './fixtures/oauth.ts';

// What a sign-up brings along: proof of a contact, OAuth identities, a tag (protocol/organizations 1.2, protocol/login
// 4.3 and 5.3); and proof of a contact that changes.

const DONE = [200, COMPLETED];
const INVALID = [400, 'REQUEST_INVALID'];
const NO_PROOF = [400, 'INVALID_VERIFICATION_TOKEN'];
const UNSIGNED = [400, 'INVALID_CLIENT_SIGNATURE'];
const TAKEN = [409, 'ALREADY_EXISTS'];
const V7 = { type: 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7' };

const newEmail = () => `${randomUUID()}@example.com`;
const newPhone = () => `+1555${String(Math.floor(Math.random() * 1e7)).padStart(7, '0')}`;

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('sign-up parameters on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  const spent: string[] = [];

  beforeAll(async () => {
    app = await openTestApp(database, LOOPBACK);
    root = app.root;
  });

  afterAll(async () => {
    const { organizationId } = root;
    const text = await databaseText(app);
    const found = spent.filter((token) => token.split('.').some((part) => text.includes(part)));
    await app[Symbol.asyncDispose]();
    expect(text).toContain(organizationId);
    expect(found).toEqual([]);
  });

  const create = (parameters: object, overrides: Record<string, unknown> = {}) =>
    root.submit('create_sub_organization', parameters, overrides);
  /** A token of the parent, unless told otherwise. */
  const prove = async (contact: string, options: Partial<Parameters<typeof verificationToken>[1]> = {}) => {
    const proof = await verificationToken(app, { contact, organizationId: root.organizationId, ...options });
    spent.push(proof.token);
    return proof;
  };
  const verified = async (filterType: 'EMAIL' | 'PHONE_NUMBER', filterValue: string): Promise<string[]> =>
    (await root.query('list_verified_suborgs', { filterType, filterValue })).body.organizationIds;

  /** A sign-up as core sends it: the token is bound to a key, and the key signs what is asked for. */
  async function boundSignUp(userEmail = newEmail(), extra: Record<string, unknown> = {}) {
    const key = newKeyPair();
    const { id, token } = await prove(userEmail, { publicKey: key.publicKey });
    const apiKeys = [apiKeyOf(newKeyPair())];
    const user = { userEmail, apiKeys, ...extra };
    const clientSignature = signedSignUp(key, id, { email: userEmail, apiKeys, ...extra });
    return { key, id, token, user, userEmail, clientSignature };
  }

  describe('a verification token', () => {
    test('marks the contact of its root user, in both versions', async () => {
      const { user, userEmail, token, clientSignature } = await boundSignUp();
      const answer = await create(signUpParams(user, { verificationToken: token, clientSignature }));
      expect(outcome(answer)).toEqual(DONE);
      const { subOrganizationId } = answer.body.activity.result.createSubOrganizationResultV8;
      expect(await verified('EMAIL', userEmail.toUpperCase())).toEqual([subOrganizationId]);

      // The older version takes tokens of the first generation as well.
      const phone = newPhone();
      const proof = await prove(phone, { type: 'OTP_TYPE_SMS' });
      const [email, key] = [newEmail(), newKeyPair()];
      const users = [rootUser({ userEmail: email }), rootUser({ userPhoneNumber: phone, apiKeys: [apiKeyOf(key)] })];
      const older = await create({ ...signUpParams({}), rootUsers: users, verificationToken: proof.token }, V7);
      expect(outcome(older)).toEqual(DONE);
      const { subOrganizationId: second } = older.body.activity.result.createSubOrganizationResultV7;
      expect(await verified('PHONE_NUMBER', phone)).toEqual([second]);
      expect(await verified('EMAIL', email)).toEqual([]);
      const bound = await boundSignUp();
      const signed = { verificationToken: bound.token, clientSignature: bound.clientSignature };
      expect(outcome(await create(signUpParams(bound.user, signed), V7))).toEqual(DONE);
    });

    test('is for one sign-up, one contact, one tree and its time', async () => {
      const userEmail = newEmail();
      const attempt = async (proof: { token: string }, user: object = { userEmail }) =>
        outcome(await create(signUpParams({ ...user }, { verificationToken: proof.token }), V7));
      const sub = await createSubOrganization(root, 'sub');
      const other = newEmail();
      expect(await attempt(await prove(other), { userEmail: other })).toEqual(DONE);
      expect(await attempt(await prove(newEmail()))).toEqual(NO_PROOF);
      expect(await attempt(await prove(userEmail), { userEmail: newEmail() })).toEqual(NO_PROOF);
      expect(await attempt(await prove(userEmail), { apiKeys: [apiKeyOf(newKeyPair())] })).toEqual(NO_PROOF);
      expect(await attempt(await prove(userEmail, { type: 'OTP_TYPE_SMS' }))).toEqual(NO_PROOF);
      expect(await attempt(await prove(userEmail, { organizationId: sub.organizationId }))).toEqual(NO_PROOF);
      expect(await attempt(await prove(userEmail, { organizationId: randomUUID() }))).toEqual(NO_PROOF);
      expect(await attempt(await prove(userEmail, { expiresAtMs: app.app.clock() - 1 }))).toEqual(NO_PROOF);
      const { token } = await prove(userEmail);
      expect(await attempt({ token: `${token}x` })).toEqual(NO_PROOF);
      expect(await attempt({ token: 'x' })).toEqual(NO_PROOF);
      expect(await attempt({ token: '' })).toEqual(NO_PROOF);
      expect(await verified('EMAIL', userEmail)).toEqual([]);
      expect(await attempt({ token })).toEqual(DONE);
      expect(await attempt({ token })).toEqual(NO_PROOF);
      // Another token for it proves the same, but the contact has its account.
      expect(await attempt(await prove(userEmail))).toEqual(TAKEN);
      // The Kelvin sign is a k to whoever compares without regard to case.
      const kelvin = userEmail.replace(/^.{8}/, 'kkkkkkkk');
      const lookalike = { userEmail: kelvin.replace('k', '\u212a') };
      expect(await attempt(await prove(kelvin), lookalike)).toEqual([400, 'INVALID_EMAIL']);
      expect(await attempt(await prove(kelvin), { userEmail: kelvin })).toEqual(DONE);
    });

    test('that is bound to no key is not for the current version', async () => {
      const userEmail = newEmail();
      const { token } = await prove(userEmail);
      const parameters = signUpParams({ userEmail }, { verificationToken: token, takesUnboundTokens: true });
      expect(outcome(await create(parameters))).toEqual(NO_PROOF);
      expect(outcome(await create(parameters, V7))).toEqual(DONE);
    });

    test('that is bound to a key needs its signature under exactly this sign-up', async () => {
      const { user, userEmail, token, id, key, clientSignature } = await boundSignUp();
      const attempt = async (signature: object | undefined, asked: object = user, overrides = {}) => {
        const parameters = signUpParams({ ...asked }, { verificationToken: token, clientSignature: signature });
        return outcome(await create(parameters, overrides));
      };
      const { apiKeys } = user;
      const said = { email: userEmail, apiKeys };
      const another = newKeyPair();
      const good = await boundSignUp();
      const signed = { verificationToken: good.token, clientSignature: good.clientSignature };
      expect(outcome(await create(signUpParams(good.user, signed)))).toEqual(DONE);
      expect(await attempt(undefined)).toEqual(UNSIGNED);
      expect(await attempt(undefined, user, V7)).toEqual(UNSIGNED);
      expect(await attempt(signedSignUp(another, id, said))).toEqual(UNSIGNED);
      expect(await attempt({ ...signedSignUp(another, id, said), publicKey: key.publicKey })).toEqual(UNSIGNED);
      expect(await attempt(signedSignUp(key, randomUUID(), said))).toEqual(UNSIGNED);
      expect(await attempt(signedSignUp(key, id, { ...said, email: newEmail() }))).toEqual(UNSIGNED);
      expect(await attempt(signedSignUp(key, id, { ...said, apiKeys: [] }))).toEqual(UNSIGNED);
      expect(await attempt({ ...clientSignature, message: `${clientSignature.message} ` })).toEqual(UNSIGNED);
      expect(await attempt({ ...clientSignature, signature: '00'.repeat(64) })).toEqual(UNSIGNED);
      // What was signed, with a credential of somebody else.
      expect(await attempt(clientSignature, { ...user, apiKeys: [apiKeyOf(another)] })).toEqual(UNSIGNED);
      expect(
        await attempt(clientSignature, { ...user, apiKeys: [...apiKeys, { ...apiKeyOf(another), apiKeyName: '2' }] }),
      ).toEqual(UNSIGNED);
      expect(await attempt(clientSignature)).toEqual(DONE);
    });

    test('of sign-ups that race for one contact, one wins', async () => {
      const userEmail = newEmail();
      const proofs = await Promise.all(Array.from({ length: 4 }, () => prove(userEmail)));
      const answers = await Promise.all(
        proofs.map(({ token }) => create(signUpParams({ userEmail }, { verificationToken: token }), V7)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      expect(await verified('EMAIL', userEmail)).toHaveLength(1);
      // And of those with one token.
      const single = newEmail();
      const { token } = await prove(single);
      const again = await Promise.all(
        Array.from({ length: 4 }, () => create(signUpParams({ userEmail: single }, { verificationToken: token }), V7)),
      );
      expect(again.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
      expect(await verified('EMAIL', single)).toHaveLength(1);
    });
  });

  describe('OAuth providers', () => {
    const provider = (oidcToken: string) => {
      spent.push(oidcToken);
      return { providerName: 'issuer', oidcToken };
    };

    test('are a credential, are found by their token, and are signed for', async () => {
      const issuer = await Issuer.start(toJwk(ec));
      const own = newKeyPair();
      const oauthProviders = [provider(idToken(issuer, boundTo(own.publicKey)))];
      const { user, token, clientSignature } = await boundSignUp(newEmail(), {
        apiKeys: [apiKeyOf(own)],
        oauthProviders,
      });
      const parameters = signUpParams(user, { verificationToken: token, clientSignature });
      expect(outcome(await create({ ...parameters, rootUsers: [rootUser({ ...user, oauthProviders: [] })] }))).toEqual(
        UNSIGNED,
      );
      const answer = await create(parameters);
      expect(outcome(answer)).toEqual(DONE);
      const { subOrganizationId } = answer.body.activity.result.createSubOrganizationResultV8;
      const find = async (filterValue: string) =>
        (await root.query('list_suborgs', { filterType: 'OIDC_TOKEN', filterValue })).body;
      expect((await find(idToken(issuer))).organizationIds).toEqual([subOrganizationId]);
      expect((await find(idToken(issuer, { aud: 'other' }))).organizationIds).toEqual([]);
      // Only what the issuer signed is looked up.
      const [header, , signature] = idToken(issuer, { sub: 'mallory' }).split('.');
      const [, claims] = idToken(issuer).split('.');
      expect((await find(`${header}.${claims}.${signature}`)).errorCode).toBe('INVALID_OIDC_TOKEN');
      // What the client signed repeats the token, and is not kept either.
      const stored = (await root.query('get_activity', { activityId: answer.body.activity.id })).body.activity;
      expect(stored.intent.createSubOrganizationIntentV8.clientSignature.message).toMatch(/^sha256:/);
    });

    test('nobody signs up with the claims, or the token, of another', async () => {
      const issuer = await Issuer.start(toJwk(ec));
      const oidcClaims = { iss: issuer.url, sub: 'alice', aud: 'app' };
      const byClaims = { providerName: 'p', oidcClaims };
      const attempt = async (oauthProviders: object[], overrides = {}) =>
        outcome(await create(signUpParams({ oauthProviders }), overrides));
      const bobs = { providerName: 'p', oidcClaims: { ...oidcClaims, sub: 'bob' } };
      expect(await attempt([bobs, provider(idToken(issuer, { sub: 'bob', aud: 'another' }))])).toEqual(DONE);
      expect(await attempt([byClaims])).toEqual(INVALID);
      expect(await attempt([byClaims], V7)).toEqual(INVALID);
      expect(await attempt([byClaims, provider(idToken(issuer, { sub: 'mallory' }))])).toEqual(INVALID);
      const elsewhere = await Issuer.start(toJwk(ec));
      expect(await attempt([byClaims, provider(idToken(elsewhere))])).toEqual(INVALID);
      // A second root user's token proves nothing of the first.
      const rootUsers = [
        rootUser({ oauthProviders: [byClaims] }),
        rootUser({ oauthProviders: [provider(idToken(issuer))] }),
      ];
      expect(outcome(await create({ ...signUpParams({}), rootUsers }))).toEqual(INVALID);
      expect(
        await attempt([provider(idToken(issuer)), { ...byClaims, oidcClaims: { ...oidcClaims, aud: 'two' } }]),
      ).toEqual(DONE);
      // Alice has her account: nobody gets another in her name.
      expect(await attempt([provider(idToken(issuer))])).toEqual([409, 'OAUTH_PROVIDER_ALREADY_EXISTS']);
      expect(await attempt([provider(idToken(issuer, { aud: 'two' }))])).toEqual([
        409,
        'OAUTH_PROVIDER_ALREADY_EXISTS',
      ]);
    });

    test('create_users takes them, too', async () => {
      const issuer = await startKnownIssuer(root);
      const sub = await createSubOrganization(root, 'sub');
      const oauthProviders = [provider(idToken(issuer))];
      const { userId } = await createUser(sub, 'person', { oauthProviders, apiKeys: [] });
      const { user } = (await sub.query('get_user', { userId })).body;
      expect(user).toMatchObject({ apiKeys: [], oauthProviders: [{ subject: 'alice', audience: 'app' }] });
      const wrong = { userName: 'x', apiKeys: [], authenticators: [], userTags: [] };
      const byClaims = { providerName: 'p', oidcClaims: { iss: issuer.url, sub: 'bob', aud: 'app' } };
      const refused = await sub.submit('create_users', { users: [{ ...wrong, oauthProviders: [byClaims] }] });
      expect(outcome(refused)).toEqual(INVALID);
    });
  });

  test('a stranger who signs up with a public key does not get in the way of its owner', async () => {
    const victim = newKeyPair();
    const own = await signUp(root, { apiKeys: [apiKeyOf(victim)] });
    const asVictim = root.as(victim);
    const whoami = async () => (await asVictim.query('whoami')).body;
    expect((await whoami()).organizationId).toBe(own.organizationId);
    // The key is proven: it has stamped a request in its own organization.
    const inOwn = new TestClient(root.baseUrl, own.organizationId, victim);
    expect((await inOwn.query('whoami')).status).toBe(200);
    const theirs = await signUp(root, { apiKeys: [apiKeyOf(victim)] });
    expect(theirs.organizationId).not.toBe(own.organizationId);
    expect((await whoami()).organizationId).toBe(own.organizationId);
    const session = newKeyPair();
    const login = await asVictim.run('stamp_login', { publicKey: session.publicKey });
    expect(JSON.parse(Buffer.from(login.session.split('.')[1], 'base64url').toString()).organization_id).toBe(
      own.organizationId,
    );
  });

  test('a root user gets a tag of its name', async () => {
    const users = ['vip', 'vip', 'other', undefined].map((userTagName, index) =>
      rootUser({ userName: `user ${index}`, apiKeys: [apiKeyOf(newKeyPair())], ...(userTagName && { userTagName }) }),
    );
    const { subOrganizationId, rootUserIds } = await root.run('create_sub_organization', {
      ...signUpParams({}),
      rootUsers: users,
    });
    const inSub = { organizationId: subOrganizationId };
    const { userTags } = (await root.query('list_user_tags', inSub)).body;
    const tagNames = new Map(userTags.map((tag: { tagId: string; tagName: string }) => [tag.tagId, tag.tagName]));
    expect([...tagNames.values()].sort()).toEqual(['other', 'vip']);
    const tagged = await Promise.all(
      rootUserIds.map(async (userId: string) => {
        const { user } = (await root.query('get_user', { ...inSub, userId })).body;
        return user.userTags.map((tagId: string) => tagNames.get(tagId));
      }),
    );
    expect(tagged).toEqual([['vip'], ['vip'], ['other'], []]);
    for (const userTagName of ['', 'x'.repeat(256), 'a\nb']) {
      const user = { apiKeys: [apiKeyOf(newKeyPair())], userTagName };
      expect(outcome(await create(signUpParams(user)))).toEqual(INVALID);
    }
    const older = await create(signUpParams({ apiKeys: [apiKeyOf(newKeyPair())], userTagName: 'old' }), V7);
    expect(outcome(older)).toEqual(DONE);
  });

  describe('a contact that changes', () => {
    test('is verified with a token for it, whether that is bound to a key or not', async () => {
      const sub = await createSubOrganization(root, 'sub');
      const { userId } = sub;
      const [userEmail, phone] = [newEmail(), newPhone()];
      const email = async (verificationTokenText: string, change: object = {}) => {
        const parameters = { userId, userEmail, verificationToken: verificationTokenText, ...change };
        return outcome(await sub.submit('update_user_email', parameters));
      };
      const sibling = await createSubOrganization(root, 'sibling');
      const other = newEmail();
      expect(await email((await prove(other)).token, { userEmail: other })).toEqual(DONE);
      expect(outcome(await sub.submit('update_user_email', { userId, userEmail: '' }))).toEqual(DONE);
      expect(await email((await prove(newEmail())).token)).toEqual(NO_PROOF);
      expect(await email((await prove(userEmail)).token, { userEmail: '' })).toEqual(NO_PROOF);
      expect(await email((await prove(userEmail, { organizationId: sibling.organizationId })).token)).toEqual(NO_PROOF);
      expect(await email((await prove(userEmail, { expiresAtMs: app.app.clock() - 1 })).token)).toEqual(NO_PROOF);
      expect(await email('x')).toEqual(NO_PROOF);
      expect((await sub.query('get_user', { userId })).body.user).not.toHaveProperty('userEmail');
      const bound = await prove(userEmail, { publicKey: newKeyPair().publicKey });
      expect(await email(bound.token)).toEqual(DONE);
      expect(await verified('EMAIL', userEmail)).toEqual([sub.organizationId]);
      // Used up for this; and without a token the mark is gone.
      expect(await email(bound.token)).toEqual(NO_PROOF);
      expect(outcome(await sub.submit('update_user_email', { userId, userEmail: newEmail() }))).toEqual(DONE);
      expect(await verified('EMAIL', userEmail)).toEqual([]);

      // A token of the sub-organization itself counts there.
      const own = await prove(phone, { type: 'OTP_TYPE_SMS', organizationId: sub.organizationId });
      const byPhone = { userId, userPhoneNumber: phone, verificationToken: own.token };
      const asEmail = await prove(phone.slice(1));
      expect(
        outcome(await sub.submit('update_user_phone_number', { ...byPhone, verificationToken: asEmail.token })),
      ).toEqual(NO_PROOF);
      expect(outcome(await sub.submit('update_user_phone_number', byPhone))).toEqual(DONE);
      expect(await verified('PHONE_NUMBER', phone)).toEqual([sub.organizationId]);
    });

    test('is refused where another organization of the tree has proven it', async () => {
      const userEmail = newEmail();
      const first = await createSubOrganization(root, 'first');
      const second = await createSubOrganization(root, 'second');
      const change = async (sub: TestClient) => {
        const { token } = await prove(userEmail);
        return outcome(
          await sub.submit('update_user_email', { userId: sub.userId, userEmail, verificationToken: token }),
        );
      };
      expect(await change(first)).toEqual(DONE);
      expect(await change(second)).toEqual(TAKEN);
      expect((await second.query('get_user', { userId: second.userId })).body.user).not.toHaveProperty('userEmail');
      // Without a claim to have proven it, several may enter it.
      const unproven = await second.submit('update_user_email', { userId: second.userId, userEmail });
      expect(outcome(unproven)).toEqual(DONE);
      expect(await verified('EMAIL', userEmail)).toEqual([first.organizationId]);
    });
  });
});

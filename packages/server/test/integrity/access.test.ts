import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { addApiKey, addPasskey, Caller, propose } from '../flows/fixtures/access.ts';
import { loginParameters, newEmail } from '../flows/fixtures/logins.ts';
import { apiKeyOf, boundTo, idToken, LOOPBACK, signUp } from '../flows/fixtures/oauth.ts';
import { allow, deny, hasTag, newTag } from '../flows/fixtures/policy-flows.ts';
import { ProxyClient } from '../flows/fixtures/proxy.ts';
import { API_KEY, enforce, KEY_THEN_PASSKEY, step } from '../flows/mfa/support.ts';
import { createUser, newKeyPair, send, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { ec, Issuer, toJwk } from '../harness/oidc-issuer.ts';
import { Attacked, DENIED, DONE, FOUND, NOT_FOUND, OWES, type Scenes, UNKNOWN_KEY, WAITS } from './attacks.ts';

// Somebody who can write to the database, and has no key of the service, changes who is let in and who may do what: credentials,
// identities, tags, MFA policies, users, the quorum, what leads a login to its organization, and sessions that read.

const UNKNOWN_PASSKEY = [401, 'CREDENTIAL_NOT_FOUND'];

const SCENES: Scenes = {
  async api_key(attacked) {
    const { root, user, stranger, sign, id, works } = await attacked.newVictim();
    const [second, revoked] = [await addApiKey(user, root), await addApiKey(root)];
    const rows = attacked.rowsOf('api_key', id);
    const older = await rows.find({ id: revoked.apiKeyId });
    await root.run('delete_api_keys', { userId: root.userId, apiKeyIds: [revoked.apiKeyId] });
    const row = await rows.find({ user_id: root.userId });
    const theirs = await attacked.theirs('api_key');
    const key = newKeyPair();
    const public_key = key.publicKey;
    const asRoot = { before: UNKNOWN_KEY, hope: () => sign(root.as(key)) };
    return {
      rows,
      works,
      attacks: {
        ...rows.made(asRoot, { ...row, id: randomUUID(), name: 'Another', public_key }),
        'another key': { ...asRoot, forge: () => rows.update({ public_key }, { id: row['id'] }) },
        'another user': {
          before: DENIED,
          hope: () => sign(stranger),
          forge: () => rows.update({ user_id: root.userId }, { user_id: stranger.userId }),
        },
        'one of another organization': {
          before: UNKNOWN_KEY,
          hope: () => sign(root.as(attacked.thief.key)),
          forge: () => rows.insert({ ...theirs, organization_id: id, user_id: root.userId, name: 'Another' }),
        },
        'one is deleted': { before: DONE, hope: works, forge: () => rows.remove({ id: second.apiKeyId }) },
        'one that was deleted is back': {
          before: UNKNOWN_KEY,
          hope: () => sign(revoked.client),
          forge: () => rows.insert(older),
        },
      },
    };
  },

  async authenticator(attacked) {
    const { root, user, sign, id, works } = await attacked.newVictim();
    const [second, revoked] = [await addPasskey(user, root), await addPasskey(user, root)];
    const own = await addPasskey(attacked.thief);
    const rows = attacked.rowsOf('authenticator', id);
    const older = await rows.find({ id: revoked.authenticatorId });
    await root.run('delete_authenticators', { userId: user.userId, authenticatorIds: [revoked.authenticatorId] });
    const row = await rows.find();
    const theirs = await attacked.theirs('authenticator', { id: own.authenticatorId });
    const { credential_id, public_key } = theirs;
    const asUser = { before: UNKNOWN_PASSKEY, hope: () => sign(new Caller(user, own.manner)) };
    return {
      rows,
      works,
      attacks: {
        ...rows.made(asUser, { ...row, id: randomUUID(), name: 'Another', credential_id, public_key }),
        'another passkey': { ...asUser, forge: () => rows.update({ credential_id, public_key }) },
        'one of another organization': {
          ...asUser,
          forge: () => rows.insert({ ...theirs, organization_id: id, user_id: user.userId }),
        },
        'one is deleted': { before: DONE, hope: works, forge: () => rows.remove({ id: second.authenticatorId }) },
        'one that was deleted is back': {
          before: UNKNOWN_PASSKEY,
          hope: () => sign(revoked),
          forge: () => rows.insert(older),
        },
      },
    };
  },

  async oauth_provider(attacked) {
    const { parent, logins } = attacked;
    const issuer = await Issuer.start(toJwk(ec));
    const newPerson = async (...subjects: string[]) => {
      const key = newKeyPair();
      const oauthProviders = subjects.map((sub) => ({
        providerName: sub,
        oidcToken: idToken(issuer, { sub, ...boundTo(key.publicKey) }),
      }));
      const made = await signUp(parent, { apiKeys: [apiKeyOf(key)], oauthProviders });
      return new TestClient(parent.baseUrl, made.organizationId, key, made.userId);
    };
    const [user, thief] = [await newPerson('owner', 'former'), await newPerson('thief')];
    const { userId, organizationId: id } = user;
    const rows = attacked.rowsOf('oauth_provider', id);
    const older = await rows.find({ subject: 'former' });
    await user.run('delete_oauth_providers', { userId, providerIds: [older['id']] });
    const row = await rows.find();
    const theirs = await attacked.rowsOf('oauth_provider', thief.organizationId).find();
    const login = (sub: string) => async () => {
      const { publicKey } = newKeyPair();
      const oidcToken = idToken(issuer, { sub, ...boundTo(publicKey) });
      return await logins.client(id, parent.key).submit('oauth_login', { oidcToken, publicKey });
    };
    const asThief = { before: NOT_FOUND, hope: login('thief') };
    return {
      rows,
      works: () => propose(user),
      attacks: {
        ...rows.made(asThief, { ...row, id: randomUUID(), name: 'Another', subject: 'thief' }),
        'another subject': { ...asThief, forge: () => rows.update({ subject: 'thief' }) },
        'one of another organization': {
          ...asThief,
          forge: () => rows.insert({ ...theirs, organization_id: id, user_id: userId }),
        },
        // Nobody acts by an identity that is missing, so it is the list that is refused.
        'one is deleted': {
          before: FOUND,
          hope: () => user.query('get_user', { userId }),
          forge: () => rows.remove({ subject: 'owner' }),
        },
        'one that was deleted is back': {
          before: NOT_FOUND,
          hope: login('former'),
          forge: () => rows.insert(older),
        },
      },
    };
  },

  async user_tag(attacked) {
    const { root, stranger, sign, id, works } = await attacked.newVictim();
    const [holder, suspended] = [await createUser(root, 'holder'), await createUser(root, 'suspended')];
    const former = await createUser(root, 'former');
    const [signers, suspects] = [await newTag(root, holder, suspended, former), await newTag(root, suspended)];
    await allow(root, { consensus: hasTag(signers, 1) });
    await deny(root, { consensus: hasTag(suspects, 1) });
    const rows = attacked.rowsOf('user_tag', id);
    const older = await rows.find({ user_id: former.userId });
    await root.run('update_user_tag', { userTagId: signers, addUserIds: [], removeUserIds: [former.userId] });
    await newTag(attacked.thief, attacked.thief);
    const { user_tag_mac } = await attacked.theirs('user_tag');
    const made = { ...(await rows.find({ user_id: holder.userId })), user_id: stranger.userId };
    const asStranger = { before: DENIED, hope: () => sign(stranger) };
    return {
      rows,
      works,
      attacks: {
        ...rows.made(asStranger, made),
        'another user': {
          ...asStranger,
          forge: () => rows.update({ user_id: stranger.userId }, { user_id: holder.userId }),
        },
        'one of another organization': { ...asStranger, forge: () => rows.insert({ ...made, user_tag_mac }) },
        'one is deleted': {
          before: DENIED,
          hope: () => sign(suspended),
          forge: () => rows.remove({ tag_id: suspects }),
        },
        'one that was taken away is back': {
          before: DENIED,
          hope: () => sign(former),
          forge: () => rows.insert(older),
        },
      },
    };
  },

  // Policies go by ids, which users have; this says which tags there are.
  async tag(attacked) {
    const { root, id, works } = await attacked.newVictim();
    await newTag(root);
    await newTag(attacked.thief);
    const rows = attacked.rowsOf('tag', id);
    const [row, theirs, made] = [await rows.find(), await attacked.theirs('tag'), randomUUID()];
    const give = (userTagId: unknown) => () =>
      root.submit('update_user_tag', { userTagId, addUserIds: [root.userId], removeUserIds: [] });
    return {
      rows,
      works,
      attacks: {
        ...rows.made({ before: NOT_FOUND, hope: give(made) }, { ...row, id: made, name: 'Another' }),
        'another name': { before: DONE, hope: give(row['id']), forge: () => rows.update({ name: 'Another' }) },
        'one of another organization': {
          before: NOT_FOUND,
          hope: give(theirs['id']),
          forge: () => rows.insert({ ...theirs, organization_id: id }),
        },
      },
    };
  },

  async mfa_policy(attacked) {
    const { root, user, sign, id } = await attacked.newVictim();
    const { userId } = user;
    const mfaPolicyId = await enforce(root, user, KEY_THEN_PASSKEY, { condition: 'false', order: 1 });
    const rows = attacked.rowsOf('mfa_policy', id);
    const older = await rows.find();
    await root.run('update_mfa_policy', { userId, mfaPolicyId, condition: 'true' });
    const row = await rows.find();
    await enforce(attacked.thief, attacked.thief, [step(API_KEY)], { condition: 'false' });
    const theirs = await attacked.theirs('mfa_policy');
    const steps = JSON.stringify([step(API_KEY)]);
    const asUser = { before: OWES, hope: () => sign(user) };
    return {
      rows,
      works: () => sign(root),
      attacks: {
        ...rows.made(asUser, { ...row, id: randomUUID(), name: 'Another', steps, position: 0 }),
        'another condition': { ...asUser, forge: () => rows.update({ condition: 'false' }) },
        'other steps': { ...asUser, forge: () => rows.update({ steps }) },
        'another user': { ...asUser, forge: () => rows.update({ user_id: root.userId }) },
        'one of another organization': {
          ...asUser,
          forge: () => rows.insert({ ...theirs, organization_id: id, user_id: userId }),
        },
        'one is deleted': { ...asUser, forge: () => rows.remove() },
        'one is as it was before': { ...asUser, forge: () => rows.putBack([older]) },
      },
    };
  },

  async app_user(attacked) {
    const { logins } = attacked;
    const [{ user, byParent }, other] = [await logins.newPerson(), await logins.newPerson()];
    const [id, email] = [user.organizationId, newEmail()];
    const rows = attacked.rowsOf('app_user', id);
    const row = await rows.find();
    const theirs = await attacked.rowsOf('app_user', other.user.organizationId).find();
    const login = (contact: string) => ({
      before: NOT_FOUND,
      make: async () => {
        const key = newKeyPair();
        return loginParameters(await logins.verify(byParent, contact, key), key, newKeyPair());
      },
      hope: (parameters: object) => byParent.submit('otp_login', parameters),
    });
    const contacts = { email, email_key: email, phone: null };
    const acting = { before: DONE, hope: () => propose(user) };
    return {
      rows,
      works: () => propose(user),
      attacks: {
        ...rows.made(login(email), { ...row, ...contacts, id: randomUUID() }),
        'another email': { ...login(email), forge: () => rows.update(contacts) },
        'another name': { ...acting, forge: () => rows.update({ name: 'Another' }) },
        'no digest of what it has': { ...acting, forge: () => rows.update({ owned_digest: null }) },
        'one of another organization': {
          ...login(other.email),
          forge: () => rows.insert({ ...theirs, organization_id: id }),
        },
      },
    };
  },

  async organization(attacked) {
    const { root, stranger, sign, id, works } = await attacked.newQuorum(2);
    const { key, organizationId: parent_id } = attacked.thief;
    const child = randomUUID();
    const rows = attacked.rowsOf('organization', id, child);
    const { wrapped_key } = await rows.find();
    const theirs = await attacked.theirs('organization');
    const root_user_ids = JSON.stringify([stranger.userId]);
    const whoami = (organizationId: string) => () => new TestClient(root.baseUrl, organizationId, key).query('whoami');
    const asStranger = { before: DENIED, hope: () => sign(stranger) };
    return {
      rows,
      works,
      attacks: {
        ...rows.made(
          { before: [404, 'ORGANIZATION_NOT_FOUND'], hope: whoami(child) },
          { ...theirs, id: child, parent_id },
        ),
        'another quorum': { ...asStranger, forge: () => rows.update({ root_user_ids, root_threshold: 1 }) },
        'another threshold': { before: WAITS, hope: () => sign(root), forge: () => rows.update({ root_threshold: 1 }) },
        'another parent': { before: UNKNOWN_KEY, hope: whoami(id), forge: () => rows.update({ parent_id }) },
        'one of another organization': {
          ...asStranger,
          forge: () => rows.putBack([{ ...theirs, id, root_user_ids, wrapped_key }]),
        },
      },
    };
  },

  async tree_entry(attacked) {
    const { parent, thief } = attacked;
    const { root, id, works } = await attacked.newVictim();
    const { body } = await parent.query('get_auth_proxy_config');
    const proxy = new ProxyClient(parent.baseUrl, body.authProxyConfig.configId);
    const rows = attacked.rowsOf('tree_entry', id, thief.organizationId);
    const row = await rows.find({ kind: 'PUBLIC_KEY', value: root.key.publicKey });
    const theirs = await rows.find({ kind: 'PUBLIC_KEY', value: thief.key.publicKey });
    const place = ({ organization_id, owner_id }: typeof row) => ({ organization_id, owner_id });
    // Through the parent's id.
    const open = ({ key }: TestClient) => parent.as(key).submit('create_read_only_session', {});
    const value = randomUUID();
    const asked = (kind: string, hope: () => ReturnType<typeof send>) => ({
      before: FOUND,
      hope,
      forge: () => rows.insert({ ...row, kind, value, unique_value: kind === 'CREDENTIAL_ID' ? value : null }),
    });
    const filterValue = value;
    return {
      rows,
      works,
      attacks: {
        'one is made': asked('CREDENTIAL_ID', () => proxy.account('CREDENTIAL_ID', value)),
        'one is made for a name': asked('NAME', () => proxy.account('NAME', value)),
        'one is made for a contact': asked('EMAIL', () =>
          parent.query('list_suborgs', { filterType: 'EMAIL', filterValue }),
        ),
        'one is made for a proven contact': asked('VERIFIED_EMAIL', () =>
          parent.query('list_verified_suborgs', { filterType: 'EMAIL', filterValue }),
        ),
        'another organization': {
          before: DONE,
          hope: () => open(root),
          forge: () => rows.update(place(theirs), { value: row['value'] }),
        },
        'one of another organization': {
          before: DONE,
          hope: () => open(thief),
          forge: () => rows.insert({ ...theirs, ...place(row) }),
        },
      },
    };
  },

  async read_session(attacked) {
    const { root, user, id, works } = await attacked.newVictim();
    const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
    const token = randomBytes(32).toString('base64url');
    const token_hash = hashOf(token);
    const { session } = await user.run('create_read_only_session', {});
    const { session: own } = await attacked.thief.run('create_read_only_session', {});
    const rows = attacked.rowsOf('read_session', id);
    const row = await rows.find();
    const theirs = await attacked.theirs('read_session', { token_hash: hashOf(own) });
    const expires_at_ms = Number(row['expires_at_ms']) + 1;
    const user_id = root.userId;
    const body = JSON.stringify({ organizationId: id });
    const ask = (before: unknown, by: string) => ({
      before,
      hope: () => send(root.baseUrl, '/public/v1/query/whoami', body, { 'x-session': by }),
    });
    const asThief = ask([401, 'UNAUTHENTICATED'], token);
    return {
      rows,
      works,
      attacks: {
        ...rows.made(asThief, { ...row, token_hash, user_id }),
        'another token': { ...asThief, forge: () => rows.update({ token_hash }) },
        'another user': { ...ask(FOUND, session), forge: () => rows.update({ user_id }) },
        'another end': { ...ask(FOUND, session), forge: () => rows.update({ expires_at_ms }) },
        'one of another organization': {
          ...ask(asThief.before, own),
          forge: () => rows.insert({ ...theirs, organization_id: id, user_id }),
        },
      },
    };
  },
};

describe.each(DATABASES)('access that somebody else gave, on %s', (database) => {
  let attacked: Attacked;
  beforeAll(async () => {
    const env = { CUSTOS_OTP_REQUESTS: '0', CUSTOS_PROXY_REQUESTS_PER_MINUTE: '0' };
    attacked = await Attacked.open(database, { ...LOOPBACK, ...env });
  });
  afterAll(async () => {
    await attacked?.[Symbol.asyncDispose]();
  });

  test.each(Object.entries(SCENES))('nothing comes of it: %s', async (_table, sceneOf) => {
    const scene = await sceneOf(attacked);
    for (const how of Object.keys(scene.attacks)) await attacked.expectRefused(scene, how);
  });

  // What would come of it without marks.
  test.each([
    ['api_key', 'one is made'],
    ['authenticator', 'one is made'],
    ['user_tag', 'one is made'],
    ['mfa_policy', 'another condition'],
    ['organization', 'another quorum'],
    ['read_session', 'one is made'],
  ])('the service would have believed %s: %s', async (table, how) => {
    const sceneOf = SCENES[table] as Scenes[string];
    await attacked.expectReal(await sceneOf(attacked), how);
  });
});

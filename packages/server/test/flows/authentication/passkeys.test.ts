import { generateKeyPairSync, randomBytes, randomUUID, sign, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type Answer, createSubOrganization, createUser, send, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { base64url, hex, outcome, path, queryBody, sha256, WHOAMI } from './support.ts';

/** A software authenticator with one ES256 passkey. */
class Passkey {
  readonly id = randomBytes(24);
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly rpId: string;
  readonly origin: string;
  #counter = 0;

  constructor(rpId = 'app.example', origin = `https://${rpId}`) {
    this.rpId = rpId;
    this.origin = origin;
  }

  get credentialId(): string {
    return base64url(this.id);
  }

  get cose(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    return Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
  }

  /** Parameters of create_authenticators, attestation none. */
  register(authenticatorName = `passkey ${this.credentialId}`, overrides: Record<string, unknown> = {}) {
    const challenge = base64url(randomBytes(32));
    const authData = Buffer.concat([
      sha256(this.rpId),
      Buffer.of(0x45),
      Buffer.alloc(20),
      Buffer.of(0, this.id.length),
      this.id,
      this.cose,
    ]);
    const attestationObject = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
      Buffer.of(authData.length >> 8, authData.length & 0xff),
      authData,
    ]);
    const clientData = { type: 'webauthn.create', challenge, origin: this.origin, ...overrides };
    return {
      authenticatorName,
      challenge,
      attestation: {
        credentialId: this.credentialId,
        clientDataJson: base64url(JSON.stringify(clientData)),
        attestationObject: base64url(attestationObject),
        transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL'],
      },
    };
  }

  stamp(
    body: string,
    options: {
      rpId?: string;
      flags?: number;
      counter?: number;
      clientData?: Record<string, unknown>;
      signer?: Passkey;
    } = {},
  ): string {
    const counter = Buffer.alloc(4);
    this.#counter += 1;
    counter.writeUInt32BE(options.counter ?? this.#counter);
    const authenticatorData = Buffer.concat([
      sha256(options.rpId ?? this.rpId),
      Buffer.of(options.flags ?? 0x05),
      counter,
    ]);
    const clientDataJson = Buffer.from(
      JSON.stringify({
        type: 'webauthn.get',
        challenge: base64url(hex(sha256(body))),
        origin: this.origin,
        crossOrigin: false,
        ...options.clientData,
      }),
    );
    const signer = options.signer ?? this;
    const signature = sign(
      'sha256',
      Buffer.concat([authenticatorData, sha256(clientDataJson)]),
      signer.#keys.privateKey,
    );
    return JSON.stringify({
      authenticatorData: base64url(authenticatorData),
      clientDataJson: base64url(clientDataJson),
      credentialId: this.credentialId,
      signature: base64url(signature),
    });
  }

  /** Checks a vote with nothing but what the vote carries and this authenticator's public key. */
  verifies(vote: Answer['body']): boolean {
    const { authenticatorData, clientDataJson, credentialId } = vote.webauthn;
    const clientData = Buffer.from(clientDataJson, 'base64url');
    const { challenge } = JSON.parse(clientData.toString());
    const signed = Buffer.concat([Buffer.from(authenticatorData, 'base64url'), sha256(clientData)]);
    return (
      credentialId === this.credentialId &&
      Buffer.from(challenge, 'base64url').toString() === hex(sha256(vote.message)) &&
      vote.publicKey === hex(this.cose) &&
      verify('sha256', signed, this.#keys.publicKey, Buffer.from(vote.signature, 'base64url'))
    );
  }
}

describe.each(databasesOf(import.meta.url))('passkeys on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database, { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' });
    parent = service.root;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const newOrg = () => createSubOrganization(parent, `Org ${randomUUID()}`);
  const register = (client: TestClient, passkey: Passkey, userId = client.userId) =>
    client.submit('create_authenticators', { userId, authenticators: [passkey.register()] });
  type StampOptions = Parameters<Passkey['stamp']>[1];
  const sendWith = (passkey: Passkey, url: string, body: string, options?: StampOptions) =>
    send(parent.baseUrl, url, body, { 'x-stamp-webauthn': passkey.stamp(body, options) });

  test('query, submit and vote; the votes can be verified', async () => {
    const root = await newOrg();
    const second = await createUser(root, 'second');
    const [mine, theirs] = [new Passkey(), new Passkey()];
    expect((await register(root, mine)).status).toBe(200);
    expect((await register(root, theirs, second.userId)).status).toBe(200);
    const who = await sendWith(mine, WHOAMI, queryBody(root.organizationId));
    expect(who.body).toMatchObject({ organizationId: root.organizationId, userId: root.userId });

    const body = root.submitBody('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    const done = await sendWith(mine, path('update_root_quorum'), body);
    expect(outcome(done)).toEqual([200, 'ACTIVITY_STATUS_COMPLETED']);
    const [vote] = done.body.activity.votes;
    expect(vote).toMatchObject({
      scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN',
      message: body,
      publicKey: hex(mine.cose),
      userId: root.userId,
    });
    expect(mine.verifies(vote)).toBe(true);
    expect(theirs.verifies(vote)).toBe(false);

    const proposal = root.submitBody('update_organization_name', { organizationName: 'By passkeys' });
    const pending = (await sendWith(mine, path('update_organization_name'), proposal)).body.activity;
    const approval = root.submitBody('approve_activity', { fingerprint: pending.fingerprint });
    const approved = (await sendWith(theirs, path('approve_activity'), approval)).body.activity;
    expect(approved.status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(theirs.verifies(approved.votes[1])).toBe(true);
    // It is read back with the same evidence.
    const stored = (await root.query('get_activity', { activityId: pending.id })).body.activity;
    expect(stored.votes).toEqual(approved.votes);
  });

  test('every part of a stamp is checked', async () => {
    const root = await newOrg();
    const [passkey, other] = [new Passkey(), new Passkey()];
    await register(root, passkey);
    const body = queryBody(root.organizationId);
    expect((await sendWith(passkey, WHOAMI, body)).status).toBe(200);
    const attacks: [string, StampOptions][] = [
      ['another relying party', { rpId: 'evil.example' }],
      ['nobody present', { flags: 0x04 }],
      ['a registration instead of a use', { clientData: { type: 'webauthn.create' } }],
      ['the challenge of another body', { clientData: { challenge: base64url(hex(sha256(`${body} `))) } }],
      ['the digest without its hex form', { clientData: { challenge: base64url(sha256(body)) } }],
      ['an origin of another site', { clientData: { origin: 'https://evil.example' } }],
      ['no origin', { clientData: { origin: undefined } }],
      ['another key', { signer: other }],
    ];
    for (const [what, options] of attacks) {
      const answer = await sendWith(passkey, WHOAMI, body, options);
      expect(outcome(answer), what).toEqual([401, 'SIGNATURE_INVALID']);
      expect(answer.body.message, what).toContain('could not verify WebAuthN signature');
    }
    const moved = await send(parent.baseUrl, WHOAMI, `${body} `, { 'x-stamp-webauthn': passkey.stamp(body) });
    expect(outcome(moved)).toEqual([401, 'SIGNATURE_INVALID']);
    const unknown = await sendWith(other, WHOAMI, body);
    expect(outcome(unknown)).toEqual([401, 'CREDENTIAL_NOT_FOUND']);
    // User verification is not asked for; a counter that stands still or goes back is no refusal.
    expect((await sendWith(passkey, WHOAMI, body, { flags: 0x01, counter: 0 })).status).toBe(200);
    expect((await sendWith(passkey, WHOAMI, body, { counter: 1 })).status).toBe(200);
  });

  test('a subdomain may use the relying party of its parent domain', async () => {
    const root = await newOrg();
    const passkey = new Passkey('example.org', 'https://login.example.org');
    expect((await register(root, passkey)).status).toBe(200);
    expect((await sendWith(passkey, WHOAMI, queryBody(root.organizationId))).status).toBe(200);
    const wrong = new Passkey('login.example.org', 'https://example.org');
    expect(outcome(await register(root, wrong))).toEqual([400, 'INVALID_ATTESTATION']);
  });

  test('the credential id may come raw or as a CBOR byte string, and is answered raw', async () => {
    const root = await newOrg();
    const passkey = new Passkey();
    const params = passkey.register('cbor');
    params.attestation.credentialId = base64url(Buffer.concat([Buffer.of(0x58, passkey.id.length), passkey.id]));
    await root.run('create_authenticators', { userId: root.userId, authenticators: [params] });
    const { authenticators } = (await root.query('get_authenticators', { userId: root.userId })).body;
    expect(authenticators[0].credentialId).toBe(passkey.credentialId);
    expect((await sendWith(passkey, WHOAMI, queryBody(root.organizationId))).status).toBe(200);
    const found = await parent.query('list_suborgs', {
      filterType: 'CREDENTIAL_ID',
      filterValue: passkey.credentialId,
    });
    expect(found.body.organizationIds).toEqual([root.organizationId]);
  });

  test('a registration is verified', async () => {
    const root = await newOrg();
    type Registration = ReturnType<Passkey['register']>;
    const attempts: [string, (params: Registration) => Registration, Record<string, unknown>?][] = [
      ['a use instead of a registration', (params) => params, { type: 'webauthn.get' }],
      ['another origin', (params) => params, { origin: 'https://evil.example' }],
      ['another challenge', (params) => ({ ...params, challenge: base64url(randomBytes(32)) })],
      ...(
        [
          ['another credential id', { credentialId: base64url(randomBytes(24)) }],
          ['no attestation', { attestationObject: '' }],
          ['not CBOR', { attestationObject: base64url('text') }],
          ['not JSON', { clientDataJson: base64url('text') }],
        ] as [string, Partial<Registration['attestation']>][]
      ).map(([what, part]): [string, (params: Registration) => Registration] => [
        what,
        (params) => ({ ...params, attestation: { ...params.attestation, ...part } }),
      ]),
    ];
    for (const [what, change, clientData] of attempts) {
      const authenticators = [change(new Passkey().register('bad', clientData))];
      const answer = await root.submit('create_authenticators', { userId: root.userId, authenticators });
      expect(outcome(answer), what).toEqual([400, 'INVALID_ATTESTATION']);
    }
    expect((await root.query('get_authenticators', { userId: root.userId })).body.authenticators).toEqual([]);
  });

  test('the first version of a registration names its user twice, and the two must agree', async () => {
    const root = await newOrg();
    const other = await createUser(root, 'other');
    const attempt = (userId: unknown) => {
      const { attestation, ...rest } = new Passkey().register();
      const { credentialId, clientDataJson, attestationObject } = attestation;
      const browserStyle = {
        ...rest,
        userId,
        attestation: { id: credentialId, type: 'public-key', response: { clientDataJson, attestationObject } },
      };
      const type = 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS';
      return root.submit('create_authenticators', { userId: root.userId, authenticators: [browserStyle] }, { type });
    };
    expect((await attempt(root.userId)).status).toBe(200);
    expect((await attempt(undefined)).status).toBe(200);
    expect(outcome(await attempt(other.userId))).toEqual([400, 'REQUEST_INVALID']);
    const { authenticators } = (await root.query('get_authenticators', { userId: root.userId })).body;
    expect(authenticators.map((item: Answer['body']) => item.transports)).toEqual([[], []]);
  });

  test('a credential id is unique in the parent’s tree, a name per user', async () => {
    const [a, b] = [await newOrg(), await newOrg()];
    const passkey = new Passkey();
    expect((await register(a, passkey)).status).toBe(200);
    expect(outcome(await register(a, passkey))).toEqual([409, 'ALREADY_EXISTS']);
    expect(outcome(await register(b, passkey))).toEqual([409, 'ALREADY_EXISTS']);
    expect(outcome(await register(parent, passkey))).toEqual([409, 'ALREADY_EXISTS']);
    const same = () =>
      a.submit('create_authenticators', { userId: a.userId, authenticators: [new Passkey().register('same')] });
    expect((await same()).status).toBe(200);
    expect(outcome(await same())).toEqual([409, 'ALREADY_EXISTS']);
    const twice = [new Passkey().register('x'), new Passkey().register('x')];
    expect((await a.submit('create_authenticators', { userId: a.userId, authenticators: twice })).status).toBe(400);
    // Free again once it is deleted.
    const { authenticators } = (await a.query('get_authenticators', { userId: a.userId })).body;
    const { authenticatorId } = authenticators.find(
      (item: Answer['body']) => item.credentialId === passkey.credentialId,
    );
    await a.run('delete_authenticators', { userId: a.userId, authenticatorIds: [authenticatorId] });
    expect(outcome(await sendWith(passkey, WHOAMI, queryBody(a.organizationId)))).toEqual([
      401,
      'CREDENTIAL_NOT_FOUND',
    ]);
    expect((await register(b, passkey)).status).toBe(200);
    // The parent's own registration is in the tree as well.
    const above = new Passkey();
    expect((await register(parent, above)).status).toBe(200);
    expect(outcome(await register(a, above))).toEqual([409, 'ALREADY_EXISTS']);
  });

  test('whoami by the parent’s id, and the parent’s passkey on a child', async () => {
    const root = await newOrg();
    const [mine, above] = [new Passkey(), new Passkey()];
    await register(root, mine);
    await register(parent, above);
    const resolved = await sendWith(mine, WHOAMI, queryBody(parent.organizationId));
    expect(resolved.body.organizationId).toBe(root.organizationId);
    const users = await sendWith(above, '/public/v1/query/list_users', queryBody(root.organizationId));
    expect(users.status).toBe(200);
    const submit = root.submitBody('update_user_name', { userId: root.userId, userName: 'x' });
    expect(outcome(await sendWith(above, path('update_user_name'), submit))).toEqual([400, 'ORGANIZATION_MISMATCH']);
  });

  test('a user manages its own passkeys, and a passkey is a way in for the quorum', async () => {
    const root = await newOrg();
    const user = await createUser(root, 'user');
    const passkey = new Passkey();
    expect((await register(user, passkey)).status).toBe(200);
    expect(outcome(await register(user, new Passkey(), root.userId))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    const { authenticators } = (await user.query('get_authenticators', { userId: user.userId })).body;
    const authenticatorIds = [authenticators[0].authenticatorId];
    const remove = { userId: user.userId, authenticatorIds };
    expect((await user.submit('delete_authenticators', remove)).status).toBe(200);
    expect(outcome(await user.submit('delete_authenticators', remove))).toEqual([404, 'RESOURCE_NOT_FOUND']);

    const way = new Passkey();
    await register(root, way);
    const { apiKeys } = (await root.query('get_api_keys', { userId: root.userId })).body;
    const apiKeyIds = [apiKeys[0].apiKeyId];
    expect((await root.submit('delete_api_keys', { userId: root.userId, apiKeyIds })).status).toBe(200);
    const body = root.submitBody('update_user_name', { userId: root.userId, userName: 'passkey only' });
    expect(outcome(await sendWith(way, path('update_user_name'), body))).toEqual([200, 'ACTIVITY_STATUS_COMPLETED']);
    const own = await sendWith(
      way,
      '/public/v1/query/get_authenticators',
      JSON.stringify({ organizationId: root.organizationId, userId: root.userId }),
    );
    const last = root.submitBody('delete_authenticators', {
      userId: root.userId,
      authenticatorIds: [own.body.authenticators[0].authenticatorId],
    });
    expect(outcome(await sendWith(way, path('delete_authenticators'), last))).toEqual([400, 'INVALID_QUORUM']);
  });
});

describe.each(databasesOf(import.meta.url))('allowed origins on %s', (database) => {
  test('the parent’s list holds for its tree, at registration and at every stamp', async () => {
    await using service = await openTestApp(database, { CUSTOS_FAILED_AUTH_PER_MINUTE: '0' });
    const parent = service.root;
    const sub = await createSubOrganization(parent, 'sub');
    const [good, bad] = [new Passkey('good.example'), new Passkey('bad.example')];
    const register = (client: TestClient, passkey: Passkey) =>
      client.submit('create_authenticators', { userId: client.userId, authenticators: [passkey.register()] });
    const ask = (client: TestClient, passkey: Passkey) => {
      const body = queryBody(client.organizationId);
      return send(client.baseUrl, WHOAMI, body, { 'x-stamp-webauthn': passkey.stamp(body) });
    };
    const setOrigins = (client: TestClient, value: string) =>
      client.run('set_organization_feature', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value });
    // Unset: any origin.
    expect((await register(sub, bad)).status).toBe(200);
    expect((await ask(sub, bad)).status).toBe(200);
    await setOrigins(parent, 'https://good.example');
    expect(outcome(await ask(sub, bad))).toEqual([401, 'SIGNATURE_INVALID']);
    expect(outcome(await register(sub, new Passkey('bad.example')))).toEqual([400, 'INVALID_ATTESTATION']);
    expect((await register(sub, good)).status).toBe(200);
    expect((await ask(sub, good)).status).toBe(200);
    // Exact: scheme, host and port.
    const port = new Passkey('good.example', 'https://good.example:8443');
    expect(outcome(await register(sub, port))).toEqual([400, 'INVALID_ATTESTATION']);
    // What a child says about itself does not widen the parent's list.
    await setOrigins(sub, 'https://bad.example');
    expect(outcome(await ask(sub, bad))).toEqual([401, 'SIGNATURE_INVALID']);
    expect((await ask(sub, good)).status).toBe(200);
    // Also when the child is found by the parent's id.
    const body = queryBody(parent.organizationId);
    const byParent = (passkey: Passkey) =>
      send(parent.baseUrl, WHOAMI, body, { 'x-stamp-webauthn': passkey.stamp(body) });
    expect((await byParent(good)).body.organizationId).toBe(sub.organizationId);
    expect(outcome(await byParent(bad))).toEqual([401, 'SIGNATURE_INVALID']);
    await setOrigins(parent, '["https://good.example","https://bad.example"]');
    expect((await ask(sub, bad)).status).toBe(200);
    await parent.run('remove_organization_feature', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS' });
    expect((await ask(sub, bad)).status).toBe(200);
  });
});

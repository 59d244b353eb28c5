import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SignUpProxyConfig } from '../../src/domains/sign-up-proxy/model.ts';
import { SignUpProxyReader, SignUpProxyStore } from '../../src/domains/sign-up-proxy/store.ts';
import type { OrganizationId, UserId } from '../../src/lib/ids.ts';
import { readSigned } from '../harness/bundles.ts';
import { type Answer, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { addPasskey, approve, COMPLETED, outcome, policyFor, read, times, UNPROVEN } from './fixtures/access.ts';
import {
  anotherCode,
  attemptOf,
  attested,
  claimsOf,
  clientSignature,
  isSessionOf,
  LoginService,
  loginParameters,
  MAIL,
  newEmail,
  newPhone,
  type Person,
  REFUSED_CODE,
  REFUSED_SIGNATURE,
  REFUSED_TOKEN,
  type SentCode,
  SMS,
} from './fixtures/logins.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const CROCKFORD = /^[0-9A-HJKMNP-TV-Z]{9}$/;
const V1 = { type: 'ACTIVITY_TYPE_INIT_OTP' };
const V2 = { type: 'ACTIVITY_TYPE_INIT_OTP_V2' };
const VERIFY_V1 = { type: 'ACTIVITY_TYPE_VERIFY_OTP' };
const LOGIN_V1 = { type: 'ACTIVITY_TYPE_OTP_LOGIN' };
const FULL = [429, 'MAX_OTP_INITIATED'];
const EMAIL_OTP = { type: 'AUTHENTICATION_TYPE_EMAIL_OTP' };
const PASSKEY = { type: 'AUTHENTICATION_TYPE_PASSKEY' };
const API_KEY = { type: 'AUTHENTICATION_TYPE_API_KEY' };

const done = (answer: Answer): boolean => answer.status === 200 && answer.body.activity.status === COMPLETED;
const whoami = async (client: TestClient) => outcome(await client.query('whoami'))[0];

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('one-time codes on %s', (database) => {
  let logins: LoginService;
  let parent: TestClient;

  beforeAll(async () => {
    logins = await LoginService.open(database);
    parent = logins.parent;
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const init = (client: TestClient, contact: string, extra: Record<string, unknown> = {}) =>
    client.submit('init_otp', {
      otpType: contact.startsWith('+') ? SMS : MAIL,
      contact,
      appName: 'App',
      ...extra,
    });
  const verify = (client: TestClient, sent: SentCode, code = sent.code) =>
    client.submit('verify_otp', attemptOf(sent, newKeyPair(), code));

  /** A code of a version that takes it back as it is. */
  async function sendPlain(client: TestClient, contact: string, version = V2) {
    const parameters = { otpType: contact.startsWith('+') ? SMS : MAIL, contact, appName: 'App' };
    const answer = await client.submit('init_otp', parameters, version);
    return { otpId: answer.body.activity.result.initOtpResult.otpId, otpCode: await logins.code(contact) };
  }

  describe('from a code to a session', () => {
    test('a parent logs the user of its sub-organization in', async () => {
      const person = await logins.newPerson();
      const { byParent, email } = person;
      const { organizationId } = byParent;
      const begun = await init(byParent, email, {
        appName: 'Bank & Co',
        emailCustomization: { magicLinkTemplate: 'https://app.example/login?code=%s' },
      });
      expect(outcome(begun)).toEqual([200, COMPLETED]);
      expect(begun.body.activity).toMatchObject({ organizationId, type: 'ACTIVITY_TYPE_INIT_OTP_V3' });
      const { otpId, otpEncryptionTargetBundle } = begun.body.activity.result.initOtpResultV2;
      const { targetPublic, ...rest } = readSigned(otpEncryptionTargetBundle);
      expect(rest).toEqual({});

      const message = await logins.message(email);
      const code = /^\S{9}$/m.exec(message.text)?.[0] as string;
      expect(code).toMatch(CROCKFORD);
      expect(message.subject).toContain('Bank & Co');
      expect(message.subject).not.toContain(code);
      expect(message.text).toContain(`https://app.example/login?code=${code}`);
      expect(message.html).toContain('Bank &amp; Co');
      logins.secrets.add(code);

      // People type small letters; the token is bound to the key that was encrypted beside the code.
      const key = newKeyPair();
      const sent = { otpId, target: targetPublic as string, code };
      const verified = await byParent.submit('verify_otp', attemptOf(sent, key, ` ${code.toLowerCase()} `));
      expect(outcome(verified)).toEqual([200, COMPLETED]);
      const { verificationToken } = verified.body.activity.result.verifyOtpResult;
      logins.secrets.add(verificationToken);
      const claims = claimsOf(verificationToken);
      expect(claims).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        verification_type: MAIL,
        contact: email,
        organization_id: organizationId,
        public_key: key.publicKey,
        exp: expect.stringMatching(/^\d{13}$/),
      });
      expect(Number(claims.exp) - Date.now()).toBeGreaterThan(59 * MINUTE);
      expect(Number(claims.exp) - Date.now()).toBeLessThanOrEqual(60 * MINUTE);

      const session = newKeyPair();
      const login = await byParent.submit('otp_login', loginParameters(verificationToken, key, session));
      expect(outcome(login)).toEqual([200, COMPLETED]);
      const { session: jwt } = login.body.activity.result.otpLoginResult;
      expect(claimsOf(jwt)).toEqual({
        exp: expect.any(Number),
        public_key: session.publicKey,
        session_type: 'SESSION_TYPE_READ_WRITE',
        user_id: person.user.userId,
        organization_id: organizationId,
      });
      const { keys } = await (await fetch(`${parent.baseUrl}/public/v1/discovery/keys`)).json();
      const signer = keys.find(({ role }: { role: string }) => role === 'session-signer').publicKey;
      expect(isSessionOf(jwt, signer)).toBe(true);
      const client = person.user.as(session, person.user.userId);
      expect((await client.query('whoami')).body).toMatchObject({ organizationId, userId: person.user.userId });
      const { apiKeys } = (await person.user.query('get_api_keys', { userId: person.user.userId })).body;
      expect(apiKeys.at(-1)).toMatchObject({
        credential: { publicKey: session.publicKey, type: 'CREDENTIAL_TYPE_LOGIN' },
        expirationSeconds: '900',
      });
      // Whoever read the code has proven the address.
      const { organizationIds } = (
        await parent.query('list_verified_suborgs', { filterType: 'EMAIL', filterValue: email.toUpperCase() })
      ).body;
      expect(organizationIds).toEqual([organizationId]);

      // Later reads by others have a digest in place of the token, or nothing.
      const later = await read(byParent, login.body.activity.id);
      expect(later.intent.otpLoginIntentV2.verificationToken).toMatch(/^sha256:/);
      const seen = await read(person.user, verified.body.activity.id);
      expect(seen.result).toEqual({ verifyOtpResult: {} });
      expect(JSON.stringify([later, seen])).not.toContain(verificationToken);
    });

    test('a sub-organization does it itself', async () => {
      const { user, email } = await logins.newPerson();
      const key = newKeyPair();
      const token = await logins.verify(user, email, key);
      const answer = await user.submit('otp_login', loginParameters(token, key, newKeyPair()));
      expect(outcome(answer)).toEqual([200, COMPLETED]);
    });

    test('older versions have their own parameters and results, and codes come back as they are', async () => {
      const { byParent, user, email, phone } = await logins.newPerson();
      const named = await byParent.submit(
        'init_otp',
        { otpType: MAIL, contact: email, emailCustomization: { appName: 'First App' } },
        V1,
      );
      expect(named.body.activity.result).toEqual({ initOtpResult: { otpId: expect.any(String) } });
      const { subject, text } = await logins.message(email);
      expect(subject).toContain('First App');
      const otpCode = /^\S{9}$/m.exec(text)?.[0] as string;
      logins.secrets.add(otpCode);
      const { otpId } = named.body.activity.result.initOtpResult;
      const verified = await byParent.submit('verify_otp', { otpId, otpCode }, VERIFY_V1);
      expect(outcome(verified)).toEqual([200, COMPLETED]);
      expect(verified.body.activity.intent.verifyOtpIntent.otpCode).toBe(otpCode);
      expect((await read(byParent, verified.body.activity.id)).intent.verifyOtpIntent.otpCode).toMatch(/^sha256:/);
      const unbound = verified.body.activity.result.verifyOtpResult.verificationToken;
      logins.secrets.add(unbound);
      expect(claimsOf(unbound)).not.toHaveProperty('public_key');

      // A token without a key needs no signature, though today's version asks for one.
      const session = newKeyPair();
      const today = loginParameters(unbound, newKeyPair(), session);
      expect(outcome(await byParent.submit('otp_login', today))).toEqual(REFUSED_SIGNATURE);
      const bare = { verificationToken: unbound, publicKey: session.publicKey, expirationSeconds: 60 };
      expect(outcome(await byParent.submit('otp_login', bare, LOGIN_V1))).toEqual([200, COMPLETED]);
      expect(await whoami(user.as(session))).toBe(200);

      // A key can come with the plain code, and a text message has the organization's own words.
      const key = newKeyPair();
      const texted = await byParent.submit(
        'init_otp',
        { otpType: SMS, contact: phone, appName: 'App', smsCustomization: { template: 'Type {{.OtpCode}}!' } },
        V2,
      );
      expect(texted.body.activity.result).toEqual({ initOtpResult: { otpId: expect.any(String) } });
      const sms = await logins.message(phone);
      expect(sms.text).toMatch(/^Type [0-9A-Z]{9}!$/);
      const bound = await byParent.submit(
        'verify_otp',
        {
          otpId: texted.body.activity.result.initOtpResult.otpId,
          otpCode: sms.text.slice(5, 14),
          publicKey: key.publicKey,
          expirationSeconds: '60',
        },
        VERIFY_V1,
      );
      const token = bound.body.activity.result.verifyOtpResult.verificationToken;
      expect(claimsOf(token)).toMatchObject({ verification_type: SMS, contact: phone, public_key: key.publicKey });
      expect(Number(claimsOf(token).exp) - Date.now()).toBeLessThanOrEqual(MINUTE);
      const { clientSignature: _left, ...unsigned } = loginParameters(token, key, newKeyPair());
      expect(outcome(await byParent.submit('otp_login', unsigned, LOGIN_V1))).toEqual(REFUSED_SIGNATURE);
      const signed = loginParameters(token, key, newKeyPair());
      expect(outcome(await byParent.submit('otp_login', signed, LOGIN_V1))).toEqual([200, COMPLETED]);
    });

    test('the same body again is the same activity, and no second message', async () => {
      const { byParent, email } = await logins.newPerson();
      const body = byParent.submitBody('init_otp', { otpType: MAIL, contact: email, appName: 'App' });
      const first = await byParent.sendStamped('/public/v1/submit/init_otp', body);
      await logins.message(email);
      const again = await byParent.sendStamped('/public/v1/submit/init_otp', body);
      expect(again.body.activity.id).toBe(first.body.activity.id);
      // A further one is sent after the repeated one would have been.
      await logins.sendCode(byParent, email);
      expect(await logins.messagesTo(email)).toHaveLength(2);
    });
  });

  describe('a code', () => {
    test('has the length and the characters that were asked for', async () => {
      const { byParent, email, phone } = await logins.newPerson();
      await init(byParent, email, { otpLength: 6, alphanumeric: false });
      expect((await logins.message(email)).text).toMatch(/^[0-9]{6}$/m);
      await init(byParent, phone, { otpLength: 7 });
      expect((await logins.message(phone)).text).toMatch(/^[0-9A-HJKMNP-TV-Z]{7} is /);
    });

    test('of one generation is not verified by the other', async () => {
      const { byParent, email } = await logins.newPerson();
      const encrypted = await logins.sendCode(byParent, email);
      const plain = { otpId: encrypted.otpId, otpCode: encrypted.code };
      expect(outcome(await byParent.submit('verify_otp', plain, VERIFY_V1))).toEqual(REFUSED_CODE);
      expect(done(await verify(byParent, encrypted))).toBe(true);

      const old = await sendPlain(byParent, email);
      const wrapped = attemptOf({ ...encrypted, otpId: old.otpId }, newKeyPair(), old.otpCode);
      expect(outcome(await byParent.submit('verify_otp', wrapped))).toEqual(REFUSED_CODE);
      expect(done(await byParent.submit('verify_otp', old, VERIFY_V1))).toBe(true);
    });

    test('is for the organization that sent it', async () => {
      const [here, there] = [await logins.newPerson(), await logins.newPerson()];
      const sent = await logins.sendCode(here.byParent, here.email);
      for (const client of [there.byParent, there.user, parent]) {
        expect(outcome(await verify(client, sent))).toEqual(REFUSED_CODE);
      }
      expect(done(await verify(here.byParent, sent))).toBe(true);
    });

    test('serves once', async () => {
      const { byParent, email } = await logins.newPerson();
      const sent = await logins.sendCode(byParent, email);
      expect(done(await verify(byParent, sent))).toBe(true);
      expect(outcome(await verify(byParent, sent))).toEqual(REFUSED_CODE);
    });

    test('known to several who ask at once serves one of them', async () => {
      const { byParent, email } = await logins.newPerson();
      const sent = await logins.sendCode(byParent, email);
      const answers = await Promise.all(times(3, () => verify(byParent, sent)));
      expect(answers.filter(done)).toHaveLength(1);
      for (const answer of answers.filter((one) => !done(one))) expect(outcome(answer)).toEqual(REFUSED_CODE);
    });

    test('dies with its age', async () => {
      const { byParent, email } = await logins.newPerson();
      const [short, long] = [
        await logins.sendCode(byParent, email, { expirationSeconds: '30' }),
        await logins.sendCode(byParent, email),
      ];
      logins.advance(31_000);
      expect(outcome(await verify(byParent, short))).toEqual(REFUSED_CODE);
      expect(done(await verify(byParent, long))).toBe(true);
      const usual = await logins.sendCode(byParent, email);
      logins.advance(5 * MINUTE);
      expect(outcome(await verify(byParent, usual))).toEqual(REFUSED_CODE);
    });

    test('dies with its third wrong attempt, and every refusal reads alike', async () => {
      const { byParent, email } = await logins.newPerson();
      const spared = await logins.sendCode(byParent, email);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        expect(outcome(await verify(byParent, spared, anotherCode(spared.code)))).toEqual(REFUSED_CODE);
      }
      expect(done(await verify(byParent, spared))).toBe(true);

      const tried = await logins.sendCode(byParent, email);
      const refusals = [
        await verify(byParent, tried, anotherCode(tried.code)),
        // A bundle that does not open is an attempt like any other, whatever it is.
        await byParent.submit('verify_otp', { otpId: tried.otpId, encryptedOtpBundle: 'nothing' }),
        await byParent.submit('verify_otp', attemptOf({ ...tried, target: spared.target }, newKeyPair())),
        await verify(byParent, tried),
        await verify(byParent, { ...tried, otpId: randomUUID() }),
        await verify(byParent, { ...tried, otpId: 'none' }),
        await verify(byParent, spared),
      ];
      for (const { status, body } of refusals) {
        expect([status, body.message, body.errorCode]).toEqual([400, 'Invalid OTP code', 'INVALID_OTP_CODE']);
      }
    });

    test('is not guessed by many at once', async () => {
      const { byParent, email } = await logins.newPerson();
      const sent = await logins.sendCode(byParent, email, { otpLength: 6, alphanumeric: false });
      const guesses = times(20, (index) => String(index).padStart(6, '0')).filter((guess) => guess !== sent.code);
      const answers = await Promise.all(guesses.map((guess) => verify(byParent, sent, guess)));
      for (const answer of answers) expect(outcome(answer)).toEqual(REFUSED_CODE);
      // Without the guessing the same code would have served.
      expect(outcome(await verify(byParent, sent))).toEqual(REFUSED_CODE);
      const [row] = await logins.rows.run('SELECT attempts_left FROM otp WHERE id = ?', [sent.otpId]);
      expect(Number(row?.attempts_left)).toBe(0);
      const other = await logins.sendCode(byParent, email, { otpLength: 6, alphanumeric: false });
      expect(done(await verify(byParent, other))).toBe(true);
    });

    test('is not sent to somebody who may not ask for it, and takes no attempt of them', async () => {
      const { byParent, user, email } = await logins.newPerson();
      const member = await createUser(user, 'member');
      expect(outcome(await init(member, email))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      const sent = await logins.sendCode(byParent, email);
      for (let attempt = 0; attempt < 4; attempt += 1) {
        expect(outcome(await verify(member, sent, anotherCode(sent.code)))[0]).toBe(403);
      }
      expect(done(await verify(byParent, sent))).toBe(true);
      await policyFor(user, member, { condition: "activity.resource == 'OTP'" });
      expect(done(await init(member, email))).toBe(true);
      expect(done(await verify(member, await logins.sendCode(member, newEmail())))).toBe(true);
    });

    test('of a parent is nothing that users of its sub-organizations ask for', async () => {
      const { user } = await logins.newPerson();
      const above = logins.client(parent.organizationId, user.key);
      expect(outcome(await init(above, newEmail()))).toEqual([401, 'PUBLIC_KEY_NOT_FOUND']);
      expect(done(await init(user, newEmail()))).toBe(true);
    });
  });

  describe('a code', () => {
    test.each([
      ['a length below six', { otpLength: 5 }, 'otpLength'],
      ['a length beyond nine', { otpLength: 10 }, 'otpLength'],
      ['a length that is no number', { otpLength: '6' }, 'otpLength'],
      ['another way to send it', { otpType: 'OTP_TYPE_WHATSAPP' }, 'otpType'],
      ['no name of the application', { appName: null }, 'appName'],
      ['no contact', { contact: ' ' }, 'contact'],
      ['a contact that is no address', { contact: 'somebody' }, 'contact'],
      ['two addresses', { contact: 'a@mail.example,b@mail.example' }, 'contact'],
      // Its lower case is an ordinary k, and so is somebody else's address.
      ['a look-alike of an address', { contact: 'mi\u212ae@mail.example' }, 'contact'],
      ['a number that is none', { otpType: SMS, contact: '12345' }, 'phone number'],
      ['a life of nothing', { expirationSeconds: '0' }, 'expirationSeconds'],
      ['a life beyond the longest', { expirationSeconds: '601' }, 'expirationSeconds'],
      ['a life that is no number', { expirationSeconds: 'long' }, 'expirationSeconds'],
      [
        'a link without a place for it',
        { emailCustomization: { magicLinkTemplate: 'https://a.example' } },
        'magicLink',
      ],
      ['words without it', { otpType: SMS, contact: '+15555550100', smsCustomization: { template: 'x' } }, 'template'],
      ['a sender that is no address', { sendFromEmailAddress: 'nobody' }, 'sender'],
    ])('with %s is refused', async (_what, change, field) => {
      const contact = newEmail();
      const answer = await parent.submit('init_otp', { otpType: MAIL, contact, appName: 'App', ...change });
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain(field);
      expect(done(await init(parent, contact, { otpLength: 9, expirationSeconds: '600' }))).toBe(true);
    });
  });

  describe('features', () => {
    test('must be on in the sub-organization and in its parent', async () => {
      const { user, byParent, phone } = await logins.newPerson();
      for (const [feature, contact] of [
        ['OTP_EMAIL_AUTH', newEmail()],
        ['SMS_AUTH', phone],
      ] as const) {
        expect(done(await init(byParent, contact))).toBe(true);
        for (const organization of [user, parent]) {
          await logins.turn(organization, feature, 'false');
          const refused = await init(byParent, contact);
          expect(outcome(refused)).toEqual([403, 'FEATURE_DISABLED']);
          expect(refused.body.message).toContain(`FEATURE_NAME_${feature}`);
          await logins.turn(organization, feature, '');
        }
        await user.run('remove_organization_feature', { name: `FEATURE_NAME_${feature}` });
        expect(outcome(await init(byParent, contact))).toEqual([403, 'FEATURE_DISABLED']);
        await logins.turn(user, feature, 'true');
        expect(done(await init(byParent, contact))).toBe(true);
      }
      const { byParent: without } = await logins.newPerson({ disableOtpEmailAuth: true, disableSmsAuth: true });
      for (const contact of [newEmail(), newPhone()]) {
        expect(outcome(await init(without, contact))).toEqual([403, 'FEATURE_DISABLED']);
      }
    });

    test('keep a token from logging in where they were turned off meanwhile, by a login and by an attested stamp', async () => {
      const { user, byParent, email } = await logins.newPerson();
      const key = newKeyPair();
      const token = await logins.verify(parent, email, key);
      const login = () => byParent.submit('otp_login', loginParameters(token, key, newKeyPair()));
      const stampLogin = () => attested(user, token, key).submit('stamp_login', { publicKey: newKeyPair().publicKey });
      await logins.turn(user, 'OTP_EMAIL_AUTH', 'false');
      expect(outcome(await login())).toEqual([403, 'FEATURE_DISABLED']);
      expect(outcome(await stampLogin())).toEqual([401, 'SIGNATURE_INVALID']);
      await logins.turn(user, 'OTP_EMAIL_AUTH', 'true');
      expect(done(await stampLogin())).toBe(true);
    });

    test('of the parent give way to the configuration of its sign-up proxy, for the proxy', async () => {
      const proxy = await createUser(parent, 'proxy');
      await policyFor(parent, proxy, { condition: "activity.resource == 'OTP'" });
      const { storage } = logins.service.app;
      const made = await storage.read(SignUpProxyReader).ofOrganization(parent.organizationId as OrganizationId);
      const identity = { userId: proxy.userId as UserId, publicKey: proxy.key.publicKey, sealedKey: Buffer.of(0) };
      const config: SignUpProxyConfig = { ...(made as SignUpProxyConfig), enabled: true, identity };
      const configure = (changes: Partial<SignUpProxyConfig>) =>
        storage.write((store) => store(SignUpProxyStore).update({ ...config, ...changes }));
      await configure({ settings: { ...config.settings, allowedAuthMethods: ['email'] } });
      await logins.turn(parent, 'OTP_EMAIL_AUTH', 'false');
      try {
        expect(outcome(await init(parent, newEmail()))).toEqual([403, 'FEATURE_DISABLED']);
        expect(done(await init(proxy, newEmail()))).toBe(true);
        expect(outcome(await init(proxy, newPhone()))).toEqual([403, 'AUTH_METHOD_DISALLOWED']);
        await configure({ enabled: false });
        expect(outcome(await init(proxy, newEmail()))).toEqual([403, 'AUTH_METHOD_DISALLOWED']);
      } finally {
        await logins.turn(parent, 'OTP_EMAIL_AUTH', 'true');
      }
      expect(done(await init(parent, newEmail()))).toBe(true);
    });
  });

  describe('limits', () => {
    test('a contact gets three codes in three minutes, from the whole tree and from many at once', async () => {
      const [one, two] = [await logins.newPerson(), await logins.newPerson()];
      const contact = newEmail();
      const answers = await Promise.all(
        times(8, (index) =>
          init(
            index % 2 === 0 ? one.byParent : two.byParent,
            index % 3 === 0 ? contact : contact.toUpperCase().replace('PERSON', 'person'),
          ),
        ),
      );
      expect(answers.filter(done)).toHaveLength(3);
      for (const answer of answers.filter((each) => !done(each))) {
        expect(outcome(answer)).toEqual(FULL);
        expect(answer.body.message).toBe('Max number of OTPs have been initiated');
      }
      expect(outcome(await init(parent, contact))).toEqual(FULL);
      expect(done(await init(parent, newEmail()))).toBe(true);
      logins.advance(3 * MINUTE);
      expect(done(await init(parent, contact))).toBe(true);
    });

    test('and so does an identifier, whatever the contacts', async () => {
      const userIdentifier = randomUUID();
      for (let sent = 0; sent < 3; sent += 1) {
        expect(done(await init(parent, newEmail(), { userIdentifier }))).toBe(true);
      }
      expect(outcome(await init(parent, newEmail(), { userIdentifier }))).toEqual(FULL);
      expect(done(await init(parent, newEmail(), { userIdentifier: randomUUID() }))).toBe(true);
      const kept = await logins.rows.run('SELECT name FROM rate_window');
      expect(JSON.stringify(kept)).not.toContain(userIdentifier);
    });
  });

  describe('a verification token', () => {
    /** Somebody with a token, the key that it is bound to, and what logs in with both. */
    async function newHolder(by: (person: Person) => TestClient = ({ byParent }) => byParent) {
      const person = await logins.newPerson();
      const key = newKeyPair();
      const token = await logins.verify(by(person), person.email, key);
      return { ...person, key, token };
    }
    const login = (client: TestClient, parameters: object) => client.submit('otp_login', parameters);

    test('logs in once', async () => {
      const { byParent, token, key } = await newHolder();
      expect(done(await login(byParent, loginParameters(token, key, newKeyPair())))).toBe(true);
      expect(outcome(await login(byParent, loginParameters(token, key, newKeyPair())))).toEqual(REFUSED_TOKEN);
      const [fresh, other] = [newKeyPair(), await newHolder()];
      const several = await Promise.all(
        times(4, () => login(other.byParent, loginParameters(other.token, other.key, fresh))),
      );
      expect(several.filter(done)).toHaveLength(1);
    });

    test('serves where it was issued, and a parent’s in all of its tree', async () => {
      const [here, there] = [await newHolder(), await logins.newPerson()];
      // The same contact in another sub-organization is another user.
      await there.user.run('update_user_email', { userId: there.user.userId, userEmail: here.email });
      const parameters = () => loginParameters(here.token, here.key, newKeyPair());
      expect(outcome(await login(there.byParent, parameters()))).toEqual(REFUSED_TOKEN);
      expect(outcome(await login(there.user, parameters()))).toEqual(REFUSED_TOKEN);
      expect(outcome(await login(parent, parameters()))).toEqual(REFUSED_TOKEN);
      expect(done(await login(here.byParent, parameters()))).toBe(true);
      const token = await logins.verify(parent, here.email, here.key);
      expect(done(await login(there.byParent, loginParameters(token, here.key, newKeyPair())))).toBe(true);
    });

    test('logs in whoever has its contact, and nobody else', async () => {
      const { byParent, user, email } = await logins.newPerson();
      const key = newKeyPair();
      const stranger = await logins.verify(byParent, newEmail(), key);
      const refused = await login(byParent, loginParameters(stranger, key, newKeyPair()));
      expect(outcome(refused)).toEqual([404, 'RESOURCE_NOT_FOUND']);
      const member = await createUser(user, 'member', { userEmail: newEmail() });
      const token = await logins.verify(byParent, email, key);
      const session = newKeyPair();
      await byParent.run('otp_login', loginParameters(token, key, session));
      expect((await user.as(session).query('whoami')).body.userId).toBe(user.userId);
      expect(member.userId).not.toBe(user.userId);
    });

    test('has an end', async () => {
      const { byParent, email } = await logins.newPerson();
      const key = newKeyPair();
      const token = await logins.verify(byParent, email, key, { expirationSeconds: '60' });
      const other = await logins.verify(byParent, email, key);
      logins.advance(MINUTE);
      expect(outcome(await login(byParent, loginParameters(token, key, newKeyPair())))).toEqual(REFUSED_TOKEN);
      expect(done(await login(byParent, loginParameters(other, key, newKeyPair())))).toBe(true);
      const tooLong = await logins.sendCode(byParent, email);
      const asked = { ...attemptOf(tooLong, key), expirationSeconds: '86401' };
      expect((await byParent.submit('verify_otp', asked)).status).toBe(400);
      // That was no attempt at the code.
      expect(done(await verify(byParent, tooLong))).toBe(true);
    });

    test('that was tampered with is none', async () => {
      const { byParent, token, key } = await newHolder();
      const parameters = loginParameters(token, key, newKeyPair());
      const [header = '', payload = '', signature = ''] = token.split('.');
      const claims = { ...claimsOf(token), contact: newEmail() };
      const forged = Buffer.from(JSON.stringify(claims)).toString('base64url');
      const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
      for (const verificationToken of [
        `${header}.${forged}.${signature}`,
        `${none}.${payload}.`,
        `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
        `${header}.${payload}`,
        'nothing',
        '',
      ]) {
        expect(outcome(await login(byParent, { ...parameters, verificationToken }))).toEqual(REFUSED_TOKEN);
      }
      expect(done(await login(byParent, parameters))).toBe(true);
    });

    test('is used by the holder of its key, for what the holder signed', async () => {
      const { byParent, token, key } = await newHolder();
      const session = newKeyPair();
      const parameters = loginParameters(token, key, session);
      const tokenId = claimsOf(token).id;
      const said = { login: { publicKey: session.publicKey }, tokenId, type: 'USAGE_TYPE_LOGIN' };
      const stranger = newKeyPair();
      const signature = (message: unknown, by = key) => ({ clientSignature: clientSignature(by, message) });
      for (const [what, change] of [
        ['another key', { publicKey: newKeyPair().publicKey }],
        ['a signature by another key', signature(said, stranger)],
        [
          'a signature by another key under the right name',
          { clientSignature: { ...clientSignature(stranger, said), publicKey: key.publicKey } },
        ],
        ['another token', signature({ ...said, tokenId: randomUUID() })],
        ['another usage', signature({ ...said, type: 'USAGE_TYPE_SIGNUP' })],
        ['another session', signature({ ...said, login: { publicKey: newKeyPair().publicKey } })],
        ['no session', signature({ tokenId, type: 'USAGE_TYPE_LOGIN' })],
        ['no object', signature('text')],
        [
          'other words',
          { clientSignature: { ...parameters.clientSignature, message: JSON.stringify({ ...said, a: 1 }) } },
        ],
        ['no signature', { clientSignature: { ...parameters.clientSignature, signature: '00' } }],
      ] as const) {
        expect(outcome(await login(byParent, { ...parameters, ...change })), what).toEqual(REFUSED_SIGNATURE);
      }
      const { clientSignature: _left, ...unsigned } = parameters;
      expect((await login(byParent, unsigned)).status).toBe(400);
      expect(done(await login(byParent, parameters))).toBe(true);
    });

    test.each([
      ['a key of another curve', { publicKey: '02'.padEnd(64, '0') }, 'INVALID_PUBLIC_KEY'],
      ['a life of nothing', { expirationSeconds: '0' }, 'INVALID_API_KEY_EXPIRATION'],
      ['a life beyond thirty days', { expirationSeconds: String(30 * 86_400 + 1) }, 'INVALID_API_KEY_EXPIRATION'],
      ['a profile that there is not', { sessionProfileId: randomUUID() }, 'REQUEST_INVALID'],
    ])('with %s is refused and stays unused', async (_what, change, code) => {
      const { byParent, token, key } = await newHolder();
      const parameters = loginParameters(token, key, newKeyPair());
      expect(outcome(await login(byParent, { ...parameters, ...change }))).toEqual([400, code]);
      expect(done(await login(byParent, parameters))).toBe(true);
    });

    test('makes a session of a profile, and ends the others where asked', async () => {
      const { sessionProfileId } = await parent.run('create_session_profile', {
        sessionProfileName: `profile ${randomUUID()}`,
        scope: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
        expirationSeconds: '300',
      });
      const { byParent, user, email, token, key } = await newHolder();
      const [plain, scoped] = [newKeyPair(), newKeyPair()];
      await byParent.run('otp_login', loginParameters(token, key, plain));
      const again = await logins.verify(byParent, email, key);
      const answer = await login(byParent, {
        ...loginParameters(again, key, scoped),
        sessionProfileId,
        expirationSeconds: '600',
        invalidateExisting: true,
      });
      const claims = claimsOf(answer.body.activity.result.otpLoginResult.session);
      expect(claims).toMatchObject({ session_profile_id: sessionProfileId, scope: expect.any(String) });
      expect(claims.exp - Math.floor(Date.now() / 1000)).toBeGreaterThan(0);
      expect(await whoami(user.as(plain))).toBe(401);
      const session = user.as(scoped, user.userId);
      expect(done(await session.submit('create_user_tag', { userTagName: 'tag', userIds: [] }))).toBe(true);
      const renamed = { userId: user.userId, userName: 'other' };
      expect(outcome(await session.submit('update_user_name', renamed))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    });

    test('is for policies of the parent to allow', async () => {
      const { byParent, email } = await logins.newPerson();
      const clerk = await createUser(parent, 'clerk');
      const client = logins.client(byParent.organizationId, clerk.key, clerk.userId);
      const key = newKeyPair();
      const token = await logins.verify(byParent, email, key);
      const parameters = loginParameters(token, key, newKeyPair());
      expect(outcome(await login(client, parameters))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      const condition = "activity.kind == 'OTP_LOGIN' && activity.params.session_profile_id == ''";
      await policyFor(parent, clerk, { condition });
      expect(done(await login(client, parameters))).toBe(true);
    });
  });

  describe('MFA of the user who is logged in', () => {
    const enforce = async ({ user }: Person, ...steps: object[]) =>
      await user.run('create_mfa_policy', {
        userId: user.userId,
        mfaPolicyName: 'MFA',
        condition: "activity.resource == 'AUTH'",
        requiredAuthenticationMethods: steps.map((method) => ({ any: [method] })),
        order: 0,
      });
    const proven = async (client: TestClient, activityId: string) =>
      (await client.query('get_mfa_status', { activityId })).body.mfaStatuses[0].satisfiedMethods;

    async function begin(person: Person) {
      const key = newKeyPair();
      const token = await logins.verify(person.byParent, person.email, key);
      const session = newKeyPair();
      const answer = await person.byParent.submit('otp_login', loginParameters(token, key, session));
      return { key, token, session, answer, ...answer.body.activity };
    }

    test('has the code as its first proof; the login is done with the last', async () => {
      const person = await logins.newPerson();
      const passkey = await addPasskey(person.user);
      await enforce(person, EMAIL_OTP, PASSKEY);
      const { id, fingerprint, answer, session } = await begin(person);
      expect(outcome(answer)).toEqual([200, UNPROVEN]);
      expect(await proven(person.user, id)).toEqual([EMAIL_OTP]);
      expect(await whoami(person.user.as(session))).toBe(401);

      // Neither the parent nor another user can prove it, nor can another factor of the same user.
      const member = await createUser(person.user, 'member');
      const strange = await addPasskey(member);
      for (const client of [person.byParent, member, strange]) {
        expect(outcome(await approve(client, fingerprint))[0]).toBe(400);
      }
      expect(outcome(await approve(person.user, fingerprint))).toEqual([200, UNPROVEN]);
      expect(await whoami(person.user.as(session))).toBe(401);

      const finished = await approve(passkey, fingerprint);
      expect(outcome(finished)).toEqual([200, COMPLETED]);
      expect(claimsOf(finished.body.activity.result.otpLoginResult.session).user_id).toBe(person.user.userId);
      expect(await whoami(person.user.as(session))).toBe(200);
    });

    test('asks in its order, and one token proves one step', async () => {
      const person = await logins.newPerson();
      await enforce(person, API_KEY, EMAIL_OTP, EMAIL_OTP);
      const { id, fingerprint, answer, session, token, key } = await begin(person);
      expect(outcome(answer)).toEqual([200, UNPROVEN]);
      expect(await proven(person.user, id)).toEqual([]);
      const byToken = attested(person.user, token, key);
      expect(outcome(await approve(byToken, fingerprint))).toEqual([200, UNPROVEN]);
      expect(await proven(person.user, id)).toEqual([]);
      expect(outcome(await approve(person.user, fingerprint))).toEqual([200, UNPROVEN]);
      expect(outcome(await approve(byToken, fingerprint))).toEqual([200, UNPROVEN]);
      expect(await proven(person.user, id)).toHaveLength(2);
      expect(outcome(await approve(byToken, fingerprint))).toEqual(REFUSED_TOKEN);
      expect(await whoami(person.user.as(session))).toBe(401);
      const second = newKeyPair();
      const further = attested(person.user, await logins.verify(person.byParent, person.email, second), second);
      expect(outcome(await approve(further, fingerprint))).toEqual([200, COMPLETED]);
      expect(await whoami(person.user.as(session))).toBe(200);
    });

    test('is met by the code alone where it asks for no more', async () => {
      const person = await logins.newPerson();
      await enforce(person, EMAIL_OTP);
      expect(outcome((await begin(person)).answer)).toEqual([200, COMPLETED]);
    });
  });

  test('no code and no token is in the database', async () => {
    expect(logins.secrets.size).toBeGreaterThan(20);
    expect(await logins.findSecrets()).toEqual([]);
    // The search finds what is there.
    logins.secrets.add(parent.organizationId);
    expect(await logins.findSecrets()).toContain('organization.id');
    logins.secrets.delete(parent.organizationId);
  });
});

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('other limits of codes on %s', (database) => {
  let logins: LoginService;
  beforeAll(async () => {
    logins = await LoginService.open(database, {
      CUSTOS_OTP_REQUESTS: '0',
      CUSTOS_OTP_ORGANIZATION_REQUESTS: '12',
      CUSTOS_OTP_ACTIVE: '2',
      CUSTOS_OTP_ATTEMPTS: '2',
      CUSTOS_OTP_FAILURES_PER_DAY: '3',
      CUSTOS_OTP_LENGTH: '8',
    });
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const verify = (client: TestClient, sent: SentCode, code = sent.code) =>
    client.submit('verify_otp', attemptOf(sent, newKeyPair(), code));

  test('a new code ends the oldest of its contact', async () => {
    const { byParent, email } = await logins.newPerson();
    const codes = [];
    for (let sent = 0; sent < 3; sent += 1) codes.push(await logins.sendCode(byParent, email));
    const [oldest, older, newest] = codes as [SentCode, SentCode, SentCode];
    expect(newest.code).toHaveLength(8);
    expect(outcome(await verify(byParent, oldest))).toEqual(REFUSED_CODE);
    expect(done(await verify(byParent, older))).toBe(true);
    expect(done(await verify(byParent, newest))).toBe(true);
    // Also of many at once.
    const parameters = { otpType: MAIL, contact: email, appName: 'App' };
    await Promise.all(times(5, () => byParent.submit('init_otp', parameters)));
    const alive = await logins.rows.run('SELECT id FROM otp WHERE contact = ?', [email]);
    expect(alive).toHaveLength(2);
  });

  test('a contact has so many wrong codes a day, over all its codes and from many at once', async () => {
    const [{ byParent, email }, other] = [await logins.newPerson(), await logins.newPerson()];
    const [first, second] = [await logins.sendCode(byParent, email), await logins.sendCode(byParent, email)];
    // What was right is not held against anybody.
    expect(done(await verify(byParent, first))).toBe(true);
    const elsewhere = await logins.sendCode(other.byParent, email);
    await Promise.all(
      times(6, (index) => {
        const [client, sent] = index % 2 === 0 ? [byParent, second] : [other.byParent, elsewhere];
        return verify(client, sent, anotherCode(sent.code));
      }),
    );
    const third = await logins.sendCode(byParent, email);
    expect(outcome(await verify(byParent, third))).toEqual(REFUSED_CODE);
    const [kept] = await logins.rows.run(
      "SELECT times FROM rate_window WHERE name LIKE 'wrong-code:%' AND times <> '[]'",
    );
    expect(JSON.parse(String(kept?.times))).toHaveLength(3);
    // Somebody else's codes are not concerned, and after a day its own are checked again.
    expect(done(await verify(other.byParent, await logins.sendCode(other.byParent, other.email)))).toBe(true);
    logins.advance(DAY);
    expect(done(await verify(byParent, await logins.sendCode(byParent, email)))).toBe(true);
  });

  test('an organization sends so many messages', async () => {
    const [one, two] = [await logins.newPerson(), await logins.newPerson()];
    const send = (client: TestClient) =>
      client.submit('init_otp', { otpType: MAIL, contact: newEmail(), appName: 'App' });
    const answers = await Promise.all(times(15, () => send(one.byParent)));
    expect(answers.filter(done)).toHaveLength(12);
    expect(outcome(await send(one.user))).toEqual(FULL);
    expect(done(await send(two.byParent))).toBe(true);
    logins.advance(3 * MINUTE);
    expect(done(await send(one.byParent))).toBe(true);
  });
});

// Names that strangers chose, in every field that they can set: shown as text on every page, and nothing else happens.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createUser, newKeyPair, TestClient } from '../../server/test/harness/client.ts';
import { TestServer } from '../../server/test/harness/server.ts';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { Loading } from './harness/loading.ts';
import { signInWithKey } from './harness/sign-in.ts';

const HOSTILE = {
  markup: '"><img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>',
  // Turned around, it would read "exe.png"; the isolate is never closed. Then marks that pile up, and emoji of many parts.
  turned: `invoice \u202Egnp.exe \u2067\u05d0\u05d1 Z\u0334\u0322\u031b\u0347algo${'\u0301'.repeat(60)} 👩‍👩‍👧‍👦🏴‍☠️🇺🇳`,
  long: `${'W'.repeat(236)}<b>`,
} as const;
type Kind = keyof typeof HOSTILE;
const KINDS = Object.keys(HOSTILE) as Kind[];

const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 375, height: 812 };

/** Until what a new size changes has been drawn. Runs in the page. */
const twoFrames = (): Promise<void> =>
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));

/** Texts that begin or end outside the window, and neither scroll nor end in dots. Runs in the page. */
function cutOff(): string[] {
  const isReachable = (element: Element | null): boolean => {
    for (let one = element; one !== null && one !== document.body; one = one.parentElement) {
      const { overflowX, textOverflow, position, clipPath } = getComputedStyle(one);
      if (['auto', 'scroll'].includes(overflowX) || textOverflow === 'ellipsis') return true;
      // Only for screen readers.
      if (position === 'absolute' && clipPath !== 'none') return true;
    }
    return false;
  };
  const found: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.textContent?.trim() ?? '';
    if (text === '' || isReachable(node.parentElement)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { left, right, width } = range.getBoundingClientRect();
    if (width > 0 && (right > innerWidth + 1 || left < -1)) found.push(text.slice(0, 60));
  }
  return found;
}

describe.skipIf(isBrowserMissing)('hostile names', { timeout: 240_000 }, () => {
  let service: TestServer;
  let browser: Browser;
  let root: TestClient;
  /** Path of a page, and the texts that it has to show. */
  let pages: readonly (readonly [path: string, name: string, shows: readonly string[]])[];

  beforeAll(async () => {
    [service, browser] = await Promise.all([
      TestServer.start({ env: { CUSTOS_LOG_LEVEL: 'warn', CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8' } }),
      launchBrowser(),
    ]);
    root = TestClient.root(service.credentials, service.baseUrl);
    const { userId } = root;
    const names = Object.values(HOSTILE);
    await root.run('update_organization_name', { organizationName: HOSTILE.markup });
    await root.run('update_user_name', { userId, userName: HOSTILE.turned });

    const ids: Record<string, Record<Kind, string>> = {};
    const note = (what: string, kind: Kind, id: string): void => {
      ids[what] = { ...(ids[what] as Record<Kind, string>), [kind]: id };
    };
    let stranger = root;
    for (const kind of KINDS) {
      const name = HOSTILE[kind];
      const { userTagId } = await root.run('create_user_tag', { userTagName: name, userIds: [] });
      const user = await createUser(root, name, {
        userEmail: `${'w'.repeat(50)}+${kind}@${'sub.'.repeat(12)}example.org`,
        userTags: [userTagId],
      });
      if (kind === 'markup') stranger = user;
      note('user', kind, user.userId);
      await root.run('create_api_keys', {
        userId,
        apiKeys: [{ apiKeyName: name, publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
      });
      const { walletId } = await root.run('create_wallet', {
        walletName: name,
        accounts: [{ ...ETHEREUM, name }],
      });
      note('wallet', kind, walletId);
      const { privateKeyTagId } = await root.run('create_private_key_tag', {
        privateKeyTagName: name,
        privateKeyIds: [],
      });
      await root.run('create_private_keys', {
        privateKeys: [
          {
            privateKeyName: name,
            curve: 'CURVE_SECP256K1',
            privateKeyTags: [privateKeyTagId],
            addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
          },
        ],
      });
      const { policyId } = await root.run('create_policy', {
        policyName: name,
        effect: 'EFFECT_ALLOW',
        condition: `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '${walletId}'`,
        consensus: `approvers.any(user, user.tags.contains('${userTagId}'))`,
        notes: name,
      });
      note('policy', kind, policyId);
      const { endpointId } = await root.run('create_webhook_endpoint', {
        url: `http://127.0.0.1:1/${encodeURIComponent(name).slice(0, 400)}`,
        name,
        subscriptions: [{ eventType: 'ACTIVITY_UPDATES', isActive: true }],
      });
      note('webhook', kind, endpointId);
      await root.run('create_invitations', {
        invitations: [
          {
            receiverUserName: name,
            receiverUserEmail: `${'w'.repeat(50)}.${kind}@${'sub.'.repeat(12)}example.org`,
            receiverUserTags: [userTagId],
            accessType: 'ACCESS_TYPE_ALL',
            senderUserId: userId,
          },
        ],
      });
      const { subOrganizationId } = await root.run('create_sub_organization', {
        subOrganizationName: name,
        rootQuorumThreshold: 1,
        rootUsers: [{ userName: name, userEmail: 'c@x.example', apiKeys: [], authenticators: [], oauthProviders: [] }],
        wallet: { walletName: name, accounts: [{ ...ETHEREUM, name }] },
      });
      note('child', kind, subOrganizationId);
      await root.run('create_session_profile', { sessionProfileName: name, scope: 'true', notes: name });
      await root.run('create_mfa_policy', {
        userId: user.userId,
        mfaPolicyName: name,
        condition: "activity.action == 'EXPORT'",
        requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }],
        order: 0,
        notes: name,
      });
      await root.run('create_velocity_control', {
        name,
        identifier: kind,
        dataSource: { activityExecution: {} },
        aggregation: {
          method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
          operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
          threshold: '1000000',
          window: { rolling: { duration: '24h' } },
          groupBy: { wallet: {} },
        },
      });
    }
    await root.run('set_ip_allowlist', {
      enabled: false,
      rules: names.map((label, index) => ({ cidr: `10.0.${index}.0/24`, label })),
    });
    // From here on two must agree, so that what the stranger asks for waits.
    await root.run('update_root_quorum', { threshold: 2, userIds: [userId, stranger.userId] });
    const asked: string[] = [];
    for (const kind of KINDS) {
      const name = HOSTILE[kind];
      const { body } = await stranger.submit('sign_raw_payload', {
        signWith: (await root.query('list_wallet_accounts', { walletId: ids.wallet?.[kind] })).body.accounts[0].address,
        payload: name,
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      });
      asked.push(body.activity.id);
      await stranger.submit('update_policy', { policyId: ids.policy?.[kind], policyName: `${name.slice(0, 240)} 2` });
    }
    const { markup, turned } = HOSTILE;
    const each = (what: string, path: string, kinds: readonly Kind[]) =>
      kinds.map((kind) => [`${path}/${ids[what]?.[kind]}`, `${what}-${kind}`, []] as const);
    pages = [
      ['inbox', 'inbox', [markup]],
      ...asked.map((id, index) => [`inbox/${id}`, `request-${KINDS[index]}`, []] as const),
      ['activities', 'activities', [markup]],
      ...asked.map((id, index) => [`activities/${id}`, `activity-${KINDS[index]}`, []] as const),
      ['wallets', 'wallets', [markup, turned]],
      ...each('wallet', 'wallets', KINDS),
      ['policies', 'policies', [markup]],
      ['policies?tab=limits', 'limits', [markup]],
      ['policies?tab=mfa', 'mfa', []],
      ['policies?tab=sessions', 'sessions', [markup]],
      ['policies?tab=network', 'network', [markup]],
      ...each('policy', 'policies', KINDS),
      ['people', 'people', [markup]],
      ...KINDS.map((kind) => [`people?user=${ids.user?.[kind]}`, `user-${kind}`, []] as const),
      [`people?user=${userId}`, 'user-root', [markup]],
      ['webhooks', 'webhooks', [markup]],
      ...each('webhook', 'webhooks', KINDS),
      ['sends', 'sends', []],
      ['earn', 'earn', []],
      ['sub-organizations', 'sub-organizations', [markup]],
    ];
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
  });

  test('are text on every page, on a desk and on a phone', async () => {
    // Two people share the pages, so that one looks while the other's page loads.
    const left = [...pages];
    const walk = async (isFirst: boolean): Promise<void> => {
      await using device = await Device.open(browser, service.baseUrl, DESK);
      const look = lookWith(device);
      await signInWithKey(device, root);
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [path, name, shows] = next;
        await device.visit(`/console/${path}`);
        await look(path, name, shows);
      }
      if (isFirst) await lookInside(device, look);
      expect(device.problems).toEqual([]);
    };
    await Promise.all([walk(true), walk(false)]);
  });

  type Look = (path: string, name: string, shows: readonly string[]) => Promise<void>;

  /** Looks at what is open, on a desk and then on a phone: names that fit on one may not on the other. */
  function lookWith(device: Device): Look {
    const { page } = device;
    const loading = new Loading(page);
    // Of a script in a name; the console has none.
    page.on('dialog', (dialog) => {
      expect.soft(dialog.message()).toBe('no dialog');
      void dialog.dismiss();
    });
    return async (path, name, shows) => {
      for (const size of [DESK, PHONE]) {
        const where = `${path} at ${size.width}`;
        await page.setViewportSize(size);
        await page.evaluate(twoFrames);
        await loading.done();
        await takeShot(page, `hostile-${name}-${size.width}`);
        for (const text of shows) {
          expect.soft(await page.getByText(text).count(), `${where} shows ${text}`).toBeGreaterThan(0);
        }
        const seen = await page.evaluate(() => ({
          hacked: 'hacked' in globalThis,
          // The editor's own images are gaps without a source.
          strange: document.querySelectorAll('main img:not(.cm-widgetBuffer), main script, [onerror], img[src="x"]')
            .length,
          headings: document.querySelectorAll('h1').length,
          width: document.documentElement.scrollWidth,
        }));
        expect.soft(await page.evaluate(cutOff), `${where}: text that nobody can reach`).toEqual([]);
        expect.soft(seen, where).toEqual({ hacked: false, strange: 0, headings: 1, width: size.width });
        // Names do not change colours, which have a test of their own.
        expect.soft(await findViolations(page, 'structure'), where).toEqual([]);
      }
      await page.setViewportSize(DESK);
    };
  }

  /** A parent looks into a sub-organization whose names are no better, and searches there. */
  async function lookInside(device: Device, look: Look): Promise<void> {
    const { page } = device;
    await device.visit('/console/sub-organizations');
    await page.getByRole('row', { name: HOSTILE.markup }).click();
    await page.getByText(/You are reading/).waitFor();
    await look('wallets of a sub-organization', 'child', [HOSTILE.markup]);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Search' }).getByRole('combobox').fill('img src');
    await page.getByRole('option').first().waitFor();
    await look('search', 'search', []);
  }
});

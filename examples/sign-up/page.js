// What the page shows, and when. What it asks the service for is in `account.js`.
import * as accounts from './account.js';

const find = (id) => document.getElementById(id);
const sections = ['start', 'code', 'account'].map(find);

/** The session of this page; a reload forgets it, and so does a lost device. */
let session;
let isEmailConfirmed = false;
/** The code that was sent, and what to do with the token that it becomes. */
let pending;

/** Explains a step: in a line that screen readers announce, and in the list of all steps. */
function tell(title, text) {
  find('now').textContent = `${title}. ${text}`;
  find('now').hidden = false;
  find('story').querySelector('.empty')?.remove();
  const entry = document.createElement('li');
  const heading = document.createElement('strong');
  const detail = document.createElement('span');
  heading.textContent = title;
  detail.textContent = text;
  entry.append(heading, detail);
  find('story').append(entry);
}

/** Shows one section and moves the focus there, so that nobody is left where nothing is any more. */
function show(id) {
  for (const section of sections) section.hidden = section.id !== id;
  find(`${id}-title`).focus();
}

/** Runs a step with all buttons off. What goes wrong is announced and changes nothing else. */
async function step(work) {
  const buttons = [...document.querySelectorAll('button')];
  const focused = document.activeElement;
  find('error').hidden = true;
  for (const button of buttons) button.disabled = true;
  try {
    await work();
  } catch (error) {
    find('error').textContent = messageOf(error);
    find('error').hidden = false;
    find('error').scrollIntoView({ block: 'nearest' });
  } finally {
    for (const button of buttons) button.disabled = false;
    // A button that was switched off has lost the focus, and one that is gone cannot have it back.
    if (document.activeElement === document.body) {
      if (focused?.isConnected && focused.checkVisibility()) focused.focus();
      else find(`${sections.find(({ hidden }) => !hidden).id}-title`).focus();
    }
  }
}

function messageOf(error) {
  switch (error.code) {
    case 'INVALID_OTP_CODE':
      return 'That code is not right, or it is used up. Check it, or go back and ask for a new one.';
    case 'PASSKEY_FAILED':
      return 'Your browser did not use a passkey. Try again, or use an e-mail code.';
    case 'CREDENTIAL_NOT_FOUND':
      return 'There is no account with this passkey. Sign up, or use an e-mail code.';
    case 'RATE_LIMIT_EXCEEDED':
      return 'Too many codes were asked for. Wait a few minutes and try again.';
    case 'API_KEY_EXPIRED':
      return 'Your session has ended. Reload the page and log in again.';
    default:
      return error.message;
  }
}

const onSubmit = (id, work) =>
  find(id).addEventListener('submit', (event) => {
    event.preventDefault();
    void step(() => work(event.submitter));
  });
const onClick = (id, work) => find(id).addEventListener('click', () => void step(work));

async function askForCode(email, use) {
  const [sent, { otpLength, otpAlphanumeric }] = await Promise.all([accounts.sendCode(email), accounts.codeFormat()]);
  pending = { sent, use };
  find('code-email').textContent = email;
  find('otp').value = '';
  find('otp').inputMode = otpAlphanumeric ? 'text' : 'numeric';
  find('otp-hint').textContent = `${otpLength} ${otpAlphanumeric ? 'letters and digits' : 'digits'}`;
  tell('A code is on its way', 'It works once, for a few minutes, and dies after three wrong attempts.');
  show('code');
  find('otp').focus();
}

async function enterAccount(entered) {
  session = entered;
  const until = new Date(session.expiresAtMs).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  tell(
    'You are logged in',
    `A key that this browser made, and cannot show to anybody, signs your requests until ${until}.`,
  );
  await showAccount();
  show('account');
}

async function showAccount() {
  const { email, passkeys, address } = await accounts.readAccount(session);
  find('address').textContent = address;
  find('account-email').textContent = email;
  find('email-state').textContent = isEmailConfirmed ? 'confirmed' : '';
  find('email-state').className = isEmailConfirmed ? 'tag good' : 'tag';
  find('confirm-email').hidden = isEmailConfirmed;
  find('lose-hint').textContent = isEmailConfirmed
    ? 'The page forgets your session, and a passkey counts as gone. Your e-mail address leads back.'
    : 'Confirm your e-mail address first: without it, nothing leads back but your passkey.';
  find('passkeys').replaceChildren(...passkeys.map(passkeyEntry));
}

function passkeyEntry({ authenticatorId, authenticatorName }) {
  const entry = document.createElement('li');
  const remove = document.createElement('button');
  remove.type = 'button';
  remove.className = 'link';
  remove.textContent = 'Remove';
  remove.setAttribute('aria-label', `Remove the passkey ${authenticatorName}`);
  remove.addEventListener(
    'click',
    () =>
      void step(async () => {
        await accounts.removePasskey(session, authenticatorId);
        await showAccount();
        tell('The passkey is removed', 'Whoever finds the device that holds it can no longer use it here.');
      }),
  );
  entry.append(authenticatorName, remove);
  return entry;
}

onSubmit('start-form', async (button) => {
  const email = find('email').value.trim();
  if (button?.id === 'use-code') {
    await askForCode(email, async (proof) => {
      isEmailConfirmed = true;
      if (await accounts.hasAccount(email, proof)) {
        tell('You were here before', 'The address is yours, so the account that it belongs to is, too.');
      } else {
        await accounts.signUpWithCode(email, proof);
        tell('You have an account', 'An organization of your own with a wallet in it. Only you can sign with it.');
      }
      await enterAccount(await accounts.logInWithCode(proof));
    });
    return;
  }
  const entered = await accounts.signUpWithPasskey(email);
  isEmailConfirmed = false;
  tell(
    'You have an account',
    'An organization of your own with a wallet in it. Your passkey is the only way in so far.',
  );
  await enterAccount(entered);
});

onClick('passkey-login', async () => {
  const entered = await accounts.logInWithPasskey();
  isEmailConfirmed = false;
  tell('Your passkey signed', 'The service found the one account that holds it.');
  await enterAccount(entered);
});

onSubmit('code-form', async () => {
  const proof = await accounts.checkCode(pending.sent, find('otp').value.trim());
  tell(
    'The code was right',
    'It travelled encrypted to a key that your browser checked first, and became a token for a key that it just made.',
  );
  await pending.use(proof);
});

onClick('code-back', () => show(session === undefined ? 'start' : 'account'));

onClick('confirm-email', async () => {
  const email = find('account-email').textContent;
  await askForCode(email, async (proof) => {
    await accounts.confirmEmail(session, email, proof);
    isEmailConfirmed = true;
    await showAccount();
    show('account');
    tell('Your address is confirmed', 'From now on it leads back to this account, whatever happens to your device.');
  });
});

onSubmit('sign-form', async () => {
  const address = find('address').textContent;
  find('signature').textContent = await accounts.signMessage(session, address, find('message').value);
  find('signed').hidden = false;
  tell('The message is signed', 'The key of your wallet was used inside the keyring of the service and never left it.');
});

onClick('add-passkey', async () => {
  await accounts.addPasskey(session, find('account-email').textContent);
  await showAccount();
  tell('This device has a passkey', 'You can log in with it from now on.');
});

onClick('lose', () => {
  session = undefined;
  find('signed').hidden = true;
  find('start-text').textContent = 'Enter your address and use an e-mail code to come back.';
  find('passkey-signup').hidden = true;
  find('use-code').className = '';
  tell('Your device is gone', 'The session key was in it, and your passkey. Your wallet was not.');
  show('start');
});

if (accounts.config.inboxUrl !== undefined) {
  find('inbox-link').href = accounts.config.inboxUrl;
  find('inbox').hidden = false;
}
document.body.dataset.ready = 'true';

import { OauthClients, SessionProfiles } from '../../core/rules.ts';
import type { Domain } from '../../engine/domain.ts';
import { provide } from '../../storage/stores.ts';
import { names } from './names.ts';
import { createOauth2Credential } from './operations/create-oauth2-credential.ts';
import { createReadOnlySession } from './operations/create-read-only-session.ts';
import { createReadWriteSession } from './operations/create-read-write-session.ts';
import { createSessionProfile } from './operations/create-session-profile.ts';
import { deleteOauth2Credential } from './operations/delete-oauth2-credential.ts';
import { emailAuth } from './operations/email-auth.ts';
import { getOauth2Credential } from './operations/get-oauth2-credential.ts';
import { getSessionProfile } from './operations/get-session-profile.ts';
import { getSessionProfiles } from './operations/get-session-profiles.ts';
import { initOtp } from './operations/init-otp.ts';
import { initOtpAuth } from './operations/init-otp-auth.ts';
import { initUserEmailRecovery } from './operations/init-user-email-recovery.ts';
import { listOauth2Credentials } from './operations/list-oauth2-credentials.ts';
import { oauth } from './operations/oauth.ts';
import { oauthLogin } from './operations/oauth-login.ts';
import { oauth2Authenticate } from './operations/oauth2-authenticate.ts';
import { otpAuth } from './operations/otp-auth.ts';
import { otpLogin } from './operations/otp-login.ts';
import { recoverUser } from './operations/recover-user.ts';
import { stampLogin } from './operations/stamp-login.ts';
import { updateOauth2Credential } from './operations/update-oauth2-credential.ts';
import { verifyOtp } from './operations/verify-otp.ts';
import { Oauth2CredentialReader } from './store/oauth2-credentials.ts';
import { SessionProfileReader } from './store/session-profiles.ts';
import { tables } from './tables.ts';

export const login: Domain = {
  name: 'login',
  operations: [
    createOauth2Credential,
    createReadOnlySession,
    createReadWriteSession,
    createSessionProfile,
    deleteOauth2Credential,
    emailAuth,
    getOauth2Credential,
    getSessionProfile,
    getSessionProfiles,
    initOtpAuth,
    initOtp,
    initUserEmailRecovery,
    listOauth2Credentials,
    oauthLogin,
    oauth,
    oauth2Authenticate,
    otpAuth,
    otpLogin,
    recoverUser,
    stampLogin,
    updateOauth2Credential,
    verifyOtp,
  ],
  tables,
  names,
  provides: [provide(OauthClients, Oauth2CredentialReader), provide(SessionProfiles, SessionProfileReader)],
};

import type { OtpAttempt, OtpCheck } from '@custos/keyring';
import { contactKeyOf } from '../../../core/contact.ts';
import type { AttemptContext, DescribeContext, ExecuteContext, PrepareContext } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { Otp } from '../model.ts';
import { OtpReader, OtpStore } from '../store/otps.ts';
import { provedRight, supposeWrong } from './limits.ts';

/**
 * One answer for codes that are wrong, locked, expired, used or unknown, so that nobody learns which (protocol/login
 * 3.4).
 */
export const wrongCode = (): ApiError => new ApiError('INVALID_OTP_CODE', 'Invalid OTP code');

const keyOf = ({ type, contact }: Otp): string => contactKeyOf(type, contact);

/** A live code that this organization sent and that serves the purpose. */
export async function findCode(
  { read, actor, nowMs, tokens }: DescribeContext,
  otpId: string,
  serves: (otp: Otp) => boolean,
): Promise<Otp> {
  const otp = await read(OtpReader).findOtp(actor.organizationId, otpId);
  if (otp === undefined || otp.expiresAtMs <= nowMs || !serves(otp)) throw wrongCode();
  tokens.requireNewCode(otp.createdAtMs);
  return otp;
}

/** Takes one attempt before anything is compared, so that parallel ones cannot be more than there are. */
export async function takeAttempt(context: AttemptContext, otp: Otp): Promise<void> {
  const { store, actor, nowMs } = context;
  // First the count of the contact, then the code: all transactions that hold both take them in this order.
  if (!(await supposeWrong(context, keyOf(otp)))) throw wrongCode();
  if (!(await store(OtpStore).takeAttempt(actor.organizationId, otp.id, nowMs))) throw wrongCode();
}

export async function checkCode(context: PrepareContext, otp: Otp, attempt: OtpAttempt): Promise<OtpCheck> {
  const check = await context.keyring.checkOtp(holderOf(context, otp.id), otp.sealedOtp, attempt);
  if (!check.matches) throw wrongCode();
  return check;
}

/** Uses the code up; of several who know it one succeeds. */
export async function useCode(context: ExecuteContext, otp: Otp): Promise<void> {
  const { store, actor } = context;
  await provedRight(context, keyOf(otp));
  if (!(await store(OtpStore).takeOtp(actor.organizationId, otp.id))) throw wrongCode();
}

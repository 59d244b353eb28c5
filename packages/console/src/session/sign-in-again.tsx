import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { forgetSession, useSessionState } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';

const TEXTS = {
  expired: 'Its time was over. What you typed is kept in this tab. Sign in to go on where you were.',
  revoked:
    'The service no longer accepts its key: it was deleted, or replaced. What you typed is kept in this tab. Sign in to go on where you were.',
} as const;

/** Over the page, which stays as it is: nothing that was typed is lost when a session ends. */
export function SignInAgain() {
  const { ended } = useSessionState();
  const queries = useQueryClient();
  const [typed, setTyped] = useState<string>();
  if (ended === undefined) return null;
  return (
    <Dialog
      open
      isModalOnly
      onClose={() => undefined}
      title="Your session ended"
      description={TEXTS[ended.reason]}
      footer={
        <Button kind="quiet" onClick={() => void forgetSession()}>
          Leave this page
        </Button>
      }
    >
      <SignInForm
        organizationId={typed ?? ended.session.organizationId}
        onOrganizationId={setTyped}
        onDone={() => void queries.invalidateQueries()}
      />
    </Dialog>
  );
}

import { useParams } from '@tanstack/react-router';
import { Hash } from '../../kit/hash.tsx';
import { Page } from '../../kit/page.tsx';

export function ActivityPage() {
  const { activityId } = useParams({ from: '/shell/activities/$activityId' });
  return (
    <Page title={activityId} parent={{ label: 'Activities', to: '/activities' }}>
      <Hash value={activityId} whole />
    </Page>
  );
}

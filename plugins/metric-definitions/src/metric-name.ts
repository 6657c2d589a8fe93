import { MetricName } from '@svc/contract';
import { compileCheck, failValidation } from '@svc/kernel';

const checkName = compileCheck(MetricName);

/** As points have it. Half a character would be stored as another one, perhaps as the name of another metric. */
export function requireName(name: string): string {
  const issues = checkName(name).map(({ message }) => ({ path: 'name', message }));
  if (issues.length > 0) failValidation(...issues);
  if (/\p{Surrogate}/u.test(name)) failValidation({ path: 'name', message: 'is no valid Unicode' });
  return name;
}

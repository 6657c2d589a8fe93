/** Shows the results of all suites; the last line is their sum. A failure is the status of this process. */
export function summarize(results) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  console.log('\nsummary');
  for (const { name, passed, failed, skipped, notes } of results) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
    const counts = [
      passed && `${passed} passed`,
      failed && `${failed} failed`,
      skipped && `${skipped} skipped`,
    ];
    console.log(`  ${[name, ...counts.filter(Boolean)].join(', ')}`);
    for (const text of notes) console.log(`    ${text}`);
  }
  if (total.failed > 0) process.exitCode = 1;
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
}

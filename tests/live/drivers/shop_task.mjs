// The shop task by Playwright for Node.
import { appendFileSync } from "node:fs";
import { chromium } from "playwright-core";

const browser = await chromium.connectOverCDP(process.env.REPLAYKIT_CDP_URL);
const page = browser.contexts()[0].pages()[0];
await page.getByRole("link", { name: "Orders" }).click();
await page.getByLabel("Search").pressSequentially("Ines");
await page.getByLabel("Search").press("Enter");
await page.getByRole("link", { name: "1010", exact: true }).click();
const total = await page.locator("#total").innerText();
await page.getByRole("link", { name: "Settings" }).click();
await page.getByLabel("Contact email").fill("desk@harbour.test");
await page.getByLabel("Language").selectOption("fi");
await page.getByLabel("Send the weekly digest").check();
await page.getByRole("button", { name: "Save settings" }).click();
await page.locator("#done").waitFor();
const line = { type: "answer", text: total, t: Date.now() };
appendFileSync(process.env.REPLAYKIT_EVENTS, JSON.stringify(line) + "\n");
await browser.close();

// The shop task by Puppeteer.
import { appendFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.connect({ browserURL: process.env.REPLAYKIT_CDP_URL, defaultViewport: null });
const [page] = await browser.pages();
const named = (role, name) => page.locator(`::-p-aria([name="${name}"][role="${role}"])`);
await named("link", "Orders").click();
const search = await named("searchbox", "Search").waitHandle();
await search.type("Ines");
await search.press("Enter");
await named("link", "1010").click();
const total = await page.locator("#total").map((element) => element.innerText).wait();
await named("link", "Settings").click();
await named("textbox", "Contact email").fill("desk@harbour.test");
await page.select("#language", "fi");
await named("checkbox", "Send the weekly digest").click();
await named("button", "Save settings").click();
await page.waitForSelector("#done");
const line = { type: "answer", text: total, t: Date.now() };
appendFileSync(process.env.REPLAYKIT_EVENTS, JSON.stringify(line) + "\n");
await browser.disconnect();

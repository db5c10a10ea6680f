import { mount } from "svelte";
import { signIn } from "./api/client";
import App from "./App.svelte";
import "./app.css";

const target = document.getElementById("app");
if (target === null) throw new Error("the page has no element #app");

await signIn();

export default mount(App, { target });
